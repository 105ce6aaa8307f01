"""Compares a profile with PyTorch on the same GPU: python3 torch_peers.py gpu.json

Prints the peaks of the tensor cores against those of the data sheet at the clock that was measured; then ours, PyTorch's
and the ratio of both, with the least that is wanted. Exits with 1 if a bound is missed, else with 77 if there is no
PyTorch that sees a GPU.
"""

import json
import math
import os
import sys
import time

SIZE = 8192  # m = n = k of the products
BATCH, HEADS, SEQ, HEAD_DIM = 4, 16, 4096, 128
COPIED = 1 << 30  # bytes, read and written
MATMUL, COPY, ATTENTION, PEAK = 0.98, 1.00, 0.9, 0.1  # the bounds; the last is the largest difference
NOISE = 0.01  # by which the ratio of two equal rates may miss 1
SAMPLE = 1e-3  # seconds, at least
LEAD = 200_000  # cycles of a kernel that runs while the host launches the first execution, some 0.1 ms


def torch_with_gpu():
    """PyTorch, or nothing if it is not there or sees no GPU."""
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # as NVML counts
    try:
        import torch
    except ImportError as e:
        print(f"no PyTorch: {e}")
        return None
    if not torch.cuda.is_available():
        print(f"PyTorch {torch.__version__} sees no GPU")
        return None
    return torch


def fastest(torch, run):
    """Seconds of one execution, sampled as a calibration samples a product: the best of samples of a millisecond, by
    events, for 0.6 s after 50 ms. Longer ones leave the device no rest, and under a power limit a lower clock."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def sample(n):
        torch.cuda._sleep(LEAD)
        begin.record()
        for _ in range(n):
            run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3 / n

    run()
    n = math.ceil(SAMPLE / sample(1))
    best = math.inf
    for seconds in (0.05, 0.6):
        best, until = math.inf, time.monotonic() + seconds
        while time.monotonic() < until:
            best = min(best, sample(n))
    return best


def products(torch):
    """The products by dtype, each a function that prepares one and returns what runs it. Those of 8 bits have the
    right-hand side transposed, as tensor cores take it, and results of 32 bits, as ours have."""
    n = SIZE

    def real(dtype, precision="highest"):
        def prepare():
            torch.set_float32_matmul_precision(precision)
            a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
            c = torch.empty_like(a)
            return lambda: torch.matmul(a, b, out=c)
        return prepare

    def int8():
        a, b = (torch.randint(-127, 128, (n, n), device="cuda", dtype=torch.int8) for _ in range(2))
        c = torch.empty(n, n, device="cuda", dtype=torch.int32)
        return lambda: torch._int_mm(a, b.t(), out=c)

    def fp8():
        a, b = (torch.randn(n, n, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.float32)

    return {
        "bf16": real(torch.bfloat16), "fp16": real(torch.float16), "tf32": real(torch.float32, "high"),
        "fp32": real(torch.float32), "fp8_e4m3": fp8, "int8": int8,
    }


def copy(torch):
    x = torch.ones(COPIED // 4, device="cuda", dtype=torch.float32)
    y = torch.empty_like(x)
    return lambda: y.copy_(x)


def attention(torch, causal):
    def prepare():
        q, k, v = (torch.randn(BATCH, HEADS, SEQ, HEAD_DIM, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return prepare


def our_matmul(device, dtype):
    rates = [c["gflops"]["best"] for c in device["compute"] if c["operation"] == "matmul" and c["dtype"] == dtype
             and c["input_shape"] == [SIZE] * 3]
    return max(rates, default=None)


def our_copy(device):
    rates = [b["gbps"]["best"] for b in device["bandwidth"] if b["level"] == "HBM" and b["pattern"].startswith("copy")]
    return max(rates, default=None)


def our_attention(device, pattern, shape):
    """Milliseconds of the fused side, launched the faster way."""
    times = [f["fused_latency_ms"] for f in device["fusion_profiles"] if f["fusion_pattern"] == pattern
             and f["dtype"] == "bf16" and f["input_shape"] == shape and f["cache"] == "warm"]
    return min(times, default=None)


def rows(torch, device):
    """What is compared: name, unit, our rate in it, the work that makes a rate of PyTorch's seconds, its
    preparation, and the bound."""
    for dtype, prepare in products(torch).items():
        yield f"matmul {dtype} {SIZE}", "GFLOPS", our_matmul(device, dtype), 2 * SIZE**3 / 1e9, prepare, MATMUL
    yield "copy 1 GiB", "GB/s", our_copy(device), 2 * COPIED / 1e9, lambda: copy(torch), COPY
    for name, pattern, shape, causal in (
        ("attention", "Full_Attention", [BATCH, HEADS, SEQ, HEAD_DIM], False),
        ("attention causal", "Causal_Attention", [BATCH, HEADS, SEQ, SEQ, HEAD_DIM], True),
    ):
        work = 4 * BATCH * HEADS * SEQ * SEQ * HEAD_DIM / (2 if causal else 1) / 1e9
        ms = our_attention(device, pattern, shape)
        yield f"{name} bf16 S={SEQ} D={HEAD_DIM}", "GFLOPS", ms and work / ms * 1e3, work, attention(torch, causal), ATTENTION


def line(*cells):
    print(f"{cells[0]:34} {cells[1]:>12} {cells[2]:>12} {cells[3]:>7}  {cells[4]}")


def number(v, digits=0):
    return "-" if v is None else f"{v:.{digits}f}"


def compare(torch, device):
    """Whether no bound is missed. What PyTorch cannot run is compared with nothing."""
    met = True
    line("", "ours", "PyTorch", "ratio", "wanted")
    for name, unit, ours, work, prepare, bound in rows(torch, device):
        theirs, verdict = None, f">= {bound:.2f}"
        try:
            with torch.inference_mode():
                theirs = work / fastest(torch, prepare())
        except (RuntimeError, AttributeError, NotImplementedError, TypeError) as e:
            verdict = "PyTorch cannot: " + str(e).splitlines()[0]
        torch.cuda.empty_cache()
        ratio = ours / theirs if ours and theirs else None
        if theirs and (ratio is None or ratio < bound):
            met, verdict = False, verdict + (" MISSED" if ratio else " NOT MEASURED")
            if ratio and ratio >= bound - NOISE:
                verdict += f" by no more than noise, {NOISE:.0%}"
        line(f"{name}, {unit}", number(ours), number(theirs), number(ratio, 3), verdict)
    return met


def compare_peaks(device):
    """Whether the tensor cores do what the data sheet says, dense, at the clock that was measured."""
    met = True
    line("", "measured", "data sheet", "ratio", "wanted")
    for dtype, peak in device["theoretical"].get("peak_gflops", {}).items():
        entries = [c for c in device["compute"] if c["operation"] == "peak_fma" and c["dtype"] == dtype
                   and "mma" in c["implementation"] and "effective_clock_mhz" in c]
        if not entries:
            if dtype != "fp32":
                met = False
                line(f"peak {dtype}, GFLOPS", "-", "-", "-", "NOT MEASURED")
            continue
        # The clock is the mean over the samples of the case, so that it goes with their median and not with the best.
        unit = max(entries, key=lambda c: c["gflops"]["median"])
        median, clock = unit["gflops"]["median"], unit["effective_clock_mhz"]
        expected = peak["value"] * clock / device["gpu"]["sm_max_mhz"]
        ratio = median / expected
        verdict = f"within {PEAK:.0%} at {clock:.0f} MHz"
        if abs(ratio - 1) > PEAK:
            met, verdict = False, verdict + " MISSED"
        line(f"peak {dtype}, GFLOPS", number(median), number(expected), number(ratio, 3), verdict)
    return met


def main():
    with open(sys.argv[1]) as f:
        device = next(d for d in json.load(f)["devices"] if d["kind"] == "gpu")
    peaks = compare_peaks(device)
    print(flush=True)
    torch = torch_with_gpu()
    if torch is None:
        sys.exit(77 if peaks else 1)
    print(f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}; ours on {device['name']}")
    compared = compare(torch, device)
    sys.exit(0 if peaks and compared else 1)


if __name__ == "__main__":
    main()
