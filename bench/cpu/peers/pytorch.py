# PyTorch as a peer; the requests are described in doc.go.
import math, mmap, os, signal, sys, time, warnings

signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends without a traceback


def failed(e):
    """Answers with one line, which some exceptions have no text for."""
    print("error", f"{type(e).__name__}: {e}".splitlines()[0], flush=True)


try:
    import torch
    import torch.nn.functional as F
except Exception as e:  # a broken one raises what it likes
    failed(e)
    sys.exit()

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
dtypes = {"fp32": torch.float32, "fp64": torch.float64, "bf16": torch.bfloat16}


def memory(size):
    """Memory on huge pages, as our own tensors: whole ones, or less than 2 MiB would be on small ones."""
    huge = 2 << 20
    m = mmap.mmap(-1, -(-size // huge) * huge + huge, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    m.madvise(mmap.MADV_HUGEPAGE)
    skip = -torch.frombuffer(m, dtype=torch.uint8).data_ptr() % huge
    return memoryview(m)[skip : skip + size]


def read(name):
    with open(name, "rb") as f:
        m = memory(os.fstat(f.fileno()).st_size)
        f.readinto(m)
    return m


nhwc = torch.channels_last  # the layout that PyTorch recommends
aten = torch.ops.aten
# Operations on X[rows,dim], beside what else they read, into o.
operations = {
    "add": lambda o, x, z: torch.add(x, z, out=o),
    "sub": lambda o, x, z: torch.sub(x, z, out=o),
    "mul": lambda o, x, z: torch.mul(x, z, out=o),
    "div": lambda o, x, z: torch.div(x, z, out=o),
    "exp": lambda o, x: torch.exp(x, out=o),
    "relu": lambda o, x: aten.relu.out(x, out=o),
    "gelu": lambda o, x: aten.gelu.out(x, approximate="none", out=o),
    "gelu_tanh": lambda o, x: aten.gelu.out(x, approximate="tanh", out=o),
    "silu": lambda o, x: aten.silu.out(x, out=o),
    "sigmoid": lambda o, x: torch.sigmoid(x, out=o),
    "tanh": lambda o, x: torch.tanh(x, out=o),
    "bias": lambda o, x, b: torch.add(x, b, out=o),
    "reduce_sum_rows": lambda o, x: torch.sum(x, 1, out=o),
    "reduce_max_rows": lambda o, x: torch.amax(x, 1, out=o),
    "reduce_mean_rows": lambda o, x: torch.mean(x, 1, out=o),
    "reduce_sum_cols": lambda o, x: torch.sum(x, 0, out=o),
    "reduce_max_cols": lambda o, x: torch.amax(x, 0, out=o),
    "reduce_mean_cols": lambda o, x: torch.mean(x, 0, out=o),
    "softmax": lambda o, x: aten._softmax.out(x, 1, False, out=o),
    # Those without o have no such form that spares the allocation.
    "layernorm": lambda o, x, g, b: F.layer_norm(x, x.shape[1:], g, b, 1e-5),
    "rmsnorm": lambda o, x, g: F.rms_norm(x, x.shape[1:], g, 1e-5),
    "batchnorm": lambda o, x, g, b, mean, var: F.batch_norm(x, mean, var, g, b, False, 0, 1e-5),
    "dropout": lambda o, x: F.dropout(x, 0.1, True),
    "mse": lambda o, x, z: F.mse_loss(x, z),
    "cross_entropy": lambda o, x, labels: F.cross_entropy(x, labels, reduction="none"),
    "embedding": lambda o, table, index: torch.index_select(table, 0, index, out=o),
    "transpose": lambda o, x: o.copy_(x.t()),
    "permute": lambda o, x: o.copy_(x.transpose(1, 2)),
    "concat": lambda o, x, z: torch.cat((x, z), 1, out=o),
    "copy": lambda o, x: o.copy_(x),
    "set": lambda o: o.fill_(3),
}


def prepare_pool(name, dims, x):
    x = x.view(dims[:4]).contiguous(memory_format=nhwc)
    if name == "max_pool":
        return lambda: F.max_pool2d(x, *dims[4:])
    return lambda: x.mean((2, 3))


def prepare_conv(batch, c, h, w, k, size, stride, pad, groups, x, post):
    """A convolution with its weights packed before, and `post` fused, as torch.compile does for inference."""
    strides, pads, dilations = [stride] * 2, [pad] * 2, [1, 1]
    a = x[0].view(batch, c, h, w).contiguous(memory_format=nhwc)
    b = x[1].view(k, c // groups, size, size)
    if torch.backends.mkldnn.is_available():
        b = torch._C._nn.mkldnn_reorder_conv2d_weight(b.to_mkldnn(), pads, strides, dilations, groups, list(a.shape))
        return lambda: torch.ops.mkldnn._convolution_pointwise(a, b, x[2], pads, strides, dilations, groups, post, [], "")
    b = b.contiguous(memory_format=nhwc)
    conv = lambda: F.conv2d(a, b, x[2], strides, pads, dilations, groups)
    return conv if post == "none" else lambda: F.relu_(conv())


def prepare_operation(name, t, batch, seq, dim, x):
    rows = batch * seq
    if name == "batchnorm":
        x[0] = x[0].view(batch, dim, seq)
    elif x:
        x[0] = x[0].view(-1, dim)
    if len(x) > 1 and x[1].numel() == rows * dim:
        x[1] = x[1].view(rows, dim)
    if name == "permute":
        d = math.gcd(dim, 64)
        x[0] = x[0].view(batch, seq, dim // d, d)
    if name in ("cross_entropy", "embedding"):
        x[1] = x[1].view(torch.int32).long()
    shape = {"rows": [rows], "cols": [dim], "transpose": [dim, rows], "concat": [rows, 2 * dim]}
    shape = shape.get(name.split("_")[-1], [rows, dim])
    if name == "permute":
        shape = [batch, dim // d, seq, d]
    out = torch.frombuffer(memory(math.prod(shape) * t.itemsize), dtype=t).view(shape)
    f = operations[name]
    return lambda: f(out, *x)


class Conv(torch.nn.Sequential):
    """A convolution and its batch norm, of the inputs in order."""

    def __init__(self, inputs, c, k, size, stride=1, groups=1, relu=True):
        conv = torch.nn.Conv2d(c, k, size, stride, size // 2, 1, groups, bias=False)
        norm = torch.nn.BatchNorm2d(k)
        for to in (conv.weight, norm.weight, norm.bias, norm.running_mean, norm.running_var):
            to.copy_(inputs.pop(0).view(to.shape))
        super().__init__(conv, norm, *([torch.nn.ReLU()] if relu else []))


class Linear(torch.nn.Linear):
    def __init__(self, inputs, k, n):
        super().__init__(k, n)
        self.weight.copy_(inputs.pop(0).view(k, n).t())
        self.bias.copy_(inputs.pop(0))


class Block(torch.nn.Module):
    """The bottleneck of ResNet-50."""

    def __init__(self, inputs, c, k, stride, first):
        super().__init__()
        self.past = Conv(inputs, c, 4 * k, 1, stride, relu=False) if first else torch.nn.Identity()
        self.way = torch.nn.Sequential(Conv(inputs, c, k, 1), Conv(inputs, k, k, 3, stride), Conv(inputs, k, 4 * k, 1, relu=False))

    def forward(self, x):
        return torch.relu(self.way(x) + self.past(x))


def classifier(inputs, c):
    return [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), Linear(inputs, c, 1000)]


def resnet50(inputs):
    layers, c, k = [Conv(inputs, 3, 64, 7, 2), torch.nn.MaxPool2d(3, 2, 1)], 64, 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            layers.append(Block(inputs, c, k, 2 if stage and not block else 1, not block))
            c = 4 * k
        k *= 2
    return torch.nn.Sequential(*layers, *classifier(inputs, c))


def mobilenet(inputs):
    layers, c = [Conv(inputs, 3, 32, 3, 2)], 32
    for k, stride, times in ((64, 1, 1), (128, 2, 1), (128, 1, 1), (256, 2, 1), (256, 1, 1), (512, 2, 1), (512, 1, 5), (1024, 2, 1), (1024, 1, 1)):
        for _ in range(times):
            layers += [Conv(inputs, c, c, 3, stride, c), Conv(inputs, c, k, 1)]
            c = k
    return torch.nn.Sequential(*layers, *classifier(inputs, c))


class Encoder(torch.nn.Module):
    def __init__(self, inputs, heads):
        super().__init__()
        d = 64 * heads
        self.heads = heads
        self.split = torch.nn.ModuleList([Linear(inputs, d, d) for _ in range(3)])
        self.merge, self.norm1 = Linear(inputs, d, d), self.norm(inputs, d)
        self.mlp = torch.nn.Sequential(Linear(inputs, d, 4 * d), torch.nn.GELU(), Linear(inputs, 4 * d, d))
        self.norm2 = self.norm(inputs, d)

    def norm(self, inputs, d):
        n = torch.nn.LayerNorm(d)
        n.weight.copy_(inputs.pop(0))
        n.bias.copy_(inputs.pop(0))
        return n

    def forward(self, x):
        batch, seq, d = x.shape
        q, k, v = (f(x).view(batch, seq, self.heads, 64).transpose(1, 2) for f in self.split)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, seq, d)
        x = self.norm1(x + self.merge(y))
        return self.norm2(x + self.mlp(x))


def prepare_network(name, dims, inputs):
    """The network as torch.jit.optimize_for_inference makes it faster, which folds and fuses."""
    x = inputs.pop(0)
    with torch.no_grad():
        if name == "bert_encoder":
            batch, seq, heads = dims
            x, net = x.view(batch, seq, 64 * heads), Encoder(inputs, heads)
        else:
            x, net = x.view(dims[0], 3, *dims[1:]), {"resnet50": resnet50, "mobilenet": mobilenet}[name](inputs)
    warnings.simplefilter("ignore", FutureWarning)  # torch.compile is what replaces it, and was slower
    net = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(net.eval(), x)))
    for _ in range(3):  # it is compiled meanwhile
        net(x)
    return lambda: net(x)


def prepare(kind, dtype, dims, inputs):
    t = dtypes[dtype]
    x = [torch.frombuffer(read(name), dtype=t) for name in inputs]
    if kind.startswith("network_"):
        return prepare_network(kind.removeprefix("network_"), dims, x)
    if kind.endswith("_pool"):
        return prepare_pool(kind[3:], dims, x[0])
    if kind.startswith("op_"):
        return prepare_operation(kind[3:], t, *dims, x)
    if kind in ("matmul", "matmul_batched"):
        *batch, m, n, k = dims
        a, b = x[0].view(*batch, m, k), x[1].view(*batch, k, n)
        out = torch.frombuffer(memory(math.prod(batch) * m * n * t.itemsize), dtype=t).view(*batch, m, n)
        return lambda: torch.matmul(a, b, out=out)
    if kind in ("conv", "conv_relu"):
        return prepare_conv(*dims, x, "relu" if kind == "conv_relu" else "none")
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
    for _ in range(n):  # untimed; see doc.go
        task()
    begin = time.perf_counter()
    for _ in range(n):
        task()
    return f"ok {time.perf_counter() - begin}"


kernels = [line.split()[-1] for line in torch.__config__.show().splitlines() if "CPU capability" in line]
print(f"ok PyTorch {torch.__version__}, kernels for", *kernels, flush=True)
task = None
with torch.inference_mode():
    for line in sys.stdin:
        try:
            print(answer(line.split()), flush=True)
        except Exception as e:
            failed(e)
