# PyTorch as a peer; the requests are described in doc.go.
import math, mmap, os, sys, time

try:
    import torch
    import torch.nn.functional as F
except ImportError as e:
    print("error", str(e).splitlines()[0])
    sys.exit()

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
dtypes = {"fp32": torch.float32, "fp64": torch.float64, "bf16": torch.bfloat16}


def memory(size):
    """Memory on huge pages, as our own tensors."""
    m = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m.madvise(mmap.MADV_HUGEPAGE)
    return m


def read(name):
    with open(name, "rb") as f:
        m = memory(os.fstat(f.fileno()).st_size)
        f.readinto(m)
    return m


def prepare(kind, dtype, dims, inputs):
    t = dtypes[dtype]
    x = [torch.frombuffer(read(name), dtype=t) for name in inputs]
    if kind in ("matmul", "matmul_batched"):
        *batch, m, n, k = dims
        a, b = x[0].view(*batch, m, k), x[1].view(*batch, k, n)
        out = torch.frombuffer(memory(math.prod(batch) * m * n * t.itemsize), dtype=t).view(*batch, m, n)
        return lambda: torch.matmul(a, b, out=out)
    if kind in ("conv", "conv_relu"):
        batch, c, h, w, k, size, stride, pad, groups = dims
        nhwc = torch.channels_last  # the layout that PyTorch recommends
        a = x[0].view(batch, c, h, w).contiguous(memory_format=nhwc)
        b = x[1].view(k, c // groups, size, size).contiguous(memory_format=nhwc)
        conv = lambda: F.conv2d(a, b, x[2], stride, pad, 1, groups)
        return (lambda: F.relu_(conv())) if kind == "conv_relu" else conv
    if kind == "attention":
        q, k, v = (i.view(dims) for i in x)
        return lambda: F.scaled_dot_product_attention(q, k, v)
    if kind in ("attention_causal", "attention_decode"):
        batch, heads, other, keys, d = dims  # other: as many queries as keys, or heads of K and V as of Q
        causal = kind == "attention_causal"
        q = x[0].view(batch, heads, other if causal else 1, d)
        k, v = (i.view(batch, heads, keys, d) for i in x[1:])
        return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return None


def answer(words):
    global task
    if words[0] == "open":
        kind, dtype, shape, *files = words[1:]
        task = None
        task = prepare(kind, dtype, [int(d) for d in shape.split("x")], files[1:]) if dtype in dtypes else None
        if task is None:
            return "unsupported"
        with open(files[0], "wb") as f:
            result = task().contiguous().view(-1)
            f.write((result.float() if dtype == "bf16" else result).numpy().data)
        return "ok"
    n = int(words[1])
    for _ in range((n + 6) // 8):
        task()
    begin = time.perf_counter()
    for _ in range(n):
        task()
    return f"ok {time.perf_counter() - begin}"


print("ok PyTorch", torch.__version__, flush=True)
task = None
with torch.inference_mode():
    for line in sys.stdin:
        try:
            print(answer(line.split()), flush=True)
        except Exception as e:
            print("error", str(e).splitlines()[0], flush=True)
