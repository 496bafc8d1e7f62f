#!/usr/bin/env python3
"""Measures one GPU with plain PyTorch: measure.py TABLE.csv [SECTION ...].

A row describes what was timed, as JSON that `slipstick kernel` or a scenario accepts, with the median, minimum and maximum of its
repetitions, and the clock and power that NVML reported meanwhile. Kernels are timed inside CUDA graphs of many calls, and their operands
rotate through more memory than the L2 cache has. Weights and inputs are random, because zeros run faster. Needs PyTorch 2.6 or later and
nvidia-ml-py.
"""
import contextlib
import csv
import gc
import json
import math
import platform
import statistics
import sys
import threading
import time
import traceback

import pynvml
import torch
import torch._dynamo
import torch.nn.functional as F
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

GPU = torch.device("cuda")
COLD = 512 << 20  # bytes; operands rotate through buffers of this size
FP8 = torch.float8_e4m3fn
torch._dynamo.config.recompile_limit = 64


class Meter(threading.Thread):
    """Samples the SM clock in MHz and the power in W."""

    def __init__(self):
        super().__init__(daemon=True)
        pynvml.nvmlInit()
        self.handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        self.samples = []
        self.start()

    def run(self):
        while True:
            try:
                clock = pynvml.nvmlDeviceGetClockInfo(self.handle, pynvml.NVML_CLOCK_SM)
                power = pynvml.nvmlDeviceGetPowerUsage(self.handle) / 1000
                self.samples.append((time.monotonic(), clock, power))
            except pynvml.NVMLError:
                pass
            time.sleep(0.02)

    def since(self, start):
        taken = [sample for sample in self.samples if sample[0] >= start]
        if not taken:
            return "", ""
        return round(statistics.median(s[1] for s in taken)), round(statistics.median(s[2] for s in taken))


class Table:
    def __init__(self, path):
        self.file = open(path, "w", newline="")
        self.rows = csv.writer(self.file)
        self.rows.writerow(["kind", "how", "asked", "value", "unit", "least", "most", "sm_mhz", "watts"])
        self.meter = Meter()

    def add(self, kind, how, asked, values, unit, start):
        clock, power = self.meter.since(start)
        numbers = [f"{v:.6g}" for v in (statistics.median(values), min(values), max(values))]
        self.rows.writerow([kind, how, json.dumps(asked), numbers[0], unit, *numbers[1:], clock, power])
        self.file.flush()


def graph_of(calls):
    """A CUDA graph of the calls, after a warm-up on another stream than the default one."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for call in calls[:2]:
            call()
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in calls:
            call()
    return graph


def seconds(run, per_run, at_least=0.06):
    """Seconds of each of the per_run calls that run() makes, measured with device events; repeats for at_least seconds."""
    def once():
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1000

    once()
    expected = once()
    for _ in range(min(50, math.ceil(0.3 * at_least / max(expected, 1e-6)))):
        once()
    return [once() / per_run for _ in range(max(5, min(200, math.ceil(at_least / max(expected, 1e-6)))))]


def timed(calls, at_least=0.06):
    """Seconds per call inside a graph that contains each of the calls once or more."""
    rounds = max(1, math.ceil(20 / len(calls)))
    graph = graph_of(calls * rounds)
    taken = seconds(graph.replay, len(calls) * rounds, at_least)
    del graph
    return taken


def random(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device=GPU, dtype=torch.bfloat16).mul_(0.5).to(dtype)


def copies(size):
    return max(2, min(64, math.ceil(COLD / size)))


# m, n and k as in `slipstick kernel`: m rows of n outputs, each a sum of k products.
SHAPES = [(6144, 4096), (4096, 4096), (28672, 4096), (4096, 14336), (128256, 4096),  # Llama-3.1-8B
          (3072, 2048), (2048, 2048), (16384, 2048), (2048, 8192),  # Llama-3.2-1B
          (1280, 8192), (8192, 1024), (7168, 8192), (8192, 3584),  # Llama-3.1-70B over eight devices
          (8192, 8192), (16384, 16384)]
ROWS = [1, 8, 32, 64, 128, 192, 256, 512, 1024, 2048, 4096, 8192]


def gemm(table):
    for n, k in SHAPES:
        for m in ROWS:
            if n == 128256 and m > 1024:
                continue
            if n == 16384 and k == 16384 and m not in (1, 128, 1024, 8192):
                continue
            start = time.monotonic()
            count = copies(2 * (n * k + m * k))
            operands = [(random(m, k), random(n, k)) for _ in range(count)]
            calls = [lambda x=x, w=w: F.linear(x, w) for x, w in operands]
            table.add("kernel", "cublas", {"kind": "gemm", "m": m, "n": n, "k": k, "precision": "bf16"},
                      timed(calls, 0.06 if m < 1024 else 0.2), "s", start)


def gemm_fp8(table):
    one = torch.ones((), device=GPU)
    for n, k in SHAPES[:4] + SHAPES[9:14]:
        for m in (16, 64, 256, 1024, 4096, 8192):
            start = time.monotonic()
            count = copies(n * k + m * k)
            operands = [(random(m, k, dtype=FP8), random(n, k, dtype=FP8)) for _ in range(count)]
            calls = [lambda x=x, w=w: torch._scaled_mm(x, w.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True)
                     for x, w in operands]
            table.add("kernel", "cublas", {"kind": "gemm", "m": m, "n": n, "k": k, "precision": "fp8", "scaling": "tensor"},
                      timed(calls, 0.06 if m < 1024 else 0.2), "s", start)


def grouped(table):
    for groups, n, k in ((8, 28672, 4096), (8, 4096, 14336), (128, 1536, 2048), (128, 2048, 768), (32, 5760, 2880)):
        for m in (8, 64, 256, 1024):
            start = time.monotonic()
            x = random(groups * m, k)
            weights = [random(groups, n, k) for _ in range(2)]
            ends = torch.arange(1, groups + 1, device=GPU, dtype=torch.int32) * m
            calls = [lambda w=w: torch._grouped_mm(x, w.transpose(-2, -1), offs=ends) for w in weights]
            table.add("kernel", "torch._grouped_mm", {"kind": "gemm", "m": m, "n": n, "k": k, "groups": groups, "precision": "bf16"},
                      timed(calls), "s", start)


def attend(q, k, v, causal):
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])


BACKENDS = {"flash2": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def attention(table):
    for backend, name in ((BACKENDS[name], name) for name in ("flash2", "cudnn")):
        for heads, kv_heads, size in ((32, 8, 128), (32, 8, 64), (16, 16, 128)):
            for length in (512, 1024, 2048, 4096, 8192, 16384):
                for batch in sorted({1, 16384 // length}):
                    asked = {"kind": "attention", "phase": "prefill", "batch": batch, "q_len": length, "kv_len": length, "heads": heads,
                             "kv_heads": kv_heads, "head_dim": size, "causal": True, "precision": "bf16"}
                    with sdpa_kernel(backend), contextlib.suppress(RuntimeError):
                        start = time.monotonic()
                        operands = [(random(batch, heads, length, size), random(batch, kv_heads, length, size),
                                     random(batch, kv_heads, length, size)) for _ in range(2)]
                        table.add("kernel", name, asked, timed([lambda o=o: attend(*o, True) for o in operands]), "s", start)
                        if batch * length < 16384:
                            continue
                        # Both passes in eager mode: these kernels take far longer than their launches.
                        start = time.monotonic()
                        q, k, v = (t.requires_grad_() for t in operands[0])
                        upstream = random(batch, heads, length, size)

                        def both():
                            for _ in range(10):
                                out = attend(q, k, v, True)
                                torch.autograd.grad(out, (q, k, v), upstream)

                        table.add("kernel", name, asked | {"phase": "forward_backward"}, seconds(both, 10, 0.1), "s", start)


def attention_decode(table):
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        for heads, kv_heads, size in ((32, 8, 128), (32, 8, 64), (8, 1, 128), (32, 32, 128)):
            for batch in (1, 8, 32, 128):
                for length in (512, 2048, 8192, 32768):
                    held = 2 * 2 * batch * length * kv_heads * size
                    if held > 8 << 30:
                        continue
                    start = time.monotonic()
                    count = max(1, min(16, COLD // held))
                    operands = [(random(batch, heads, 1, size), random(batch, kv_heads, length, size), random(batch, kv_heads, length, size))
                                for _ in range(count)]
                    asked = {"kind": "attention", "phase": "decode", "batch": batch, "q_len": 1, "kv_len": length, "heads": heads,
                             "kv_heads": kv_heads, "head_dim": size, "precision": "bf16"}
                    table.add("kernel", "flash2", asked, timed([lambda o=o: attend(*o, False) for o in operands]), "s", start)


def passes(table):
    """Kernels whose time is mostly reading and writing their operands."""
    for columns in (2048, 4096, 8192):
        weight = random(columns)
        for rows in (1, 16, 128, 1024, 8192, 65536):
            size = 2 * rows * columns
            inputs = [random(rows, columns) for _ in range(copies(size))]
            others = inputs[1:] + inputs[:1]
            for kind, call in (("norm", lambda x, y: F.rms_norm(x, (columns,), weight, 1e-5)), ("add", lambda x, y: x + y),
                               ("softmax", lambda x, y: F.softmax(x, -1)), ("gelu", lambda x, y: F.gelu(x))):
                start = time.monotonic()
                table.add("kernel", "eager", {"kind": kind, "rows": rows, "columns": columns, "precision": "bf16"},
                          timed([lambda x=x, y=y: call(x, y) for x, y in zip(inputs, others)]), "s", start)
    source, target = (torch.empty(4 << 30, dtype=torch.uint8, device=GPU).random_() for _ in range(2))
    start = time.monotonic()
    table.add("copy", "cudaMemcpyAsync", {"bytes": 4 << 30}, seconds(lambda: target.copy_(source), 1, 0.2), "s", start)


def launches(table):
    """Seconds per kernel in a chain of kernels that do almost nothing."""
    x, w = random(1), random(256, 256)
    y = random(1, 256)
    for name, call in (("add_", lambda: x.add_(1)), ("linear", lambda: F.linear(y, w)), ("rms_norm", lambda: F.rms_norm(y, (256,)))):
        def chain():
            for _ in range(1000):
                call()

        start = time.monotonic()
        chain()
        torch.cuda.synchronize()
        taken = []
        for _ in range(10):
            begin = time.perf_counter()
            chain()
            torch.cuda.synchronize()
            taken.append((time.perf_counter() - begin) / 1000)
        table.add("launch", "eager", {"call": name}, taken, "s", start)
        start = time.monotonic()
        table.add("launch", "graph", {"call": name}, timed([call] * 1000), "s", start)


MODELS = {
    "llama-3.2-1b": {"layers": 16, "hidden": 2048, "ffn": 8192, "heads": 32, "kv_heads": 8, "head_dim": 64},
    "llama-3.1-8b": {"layers": 32, "hidden": 4096, "ffn": 14336, "heads": 32, "kv_heads": 8, "head_dim": 128},
}
VOCABULARY = 128256


def rotated(x, cosine, sine):
    a, b = x.float().chunk(2, -1)
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1).to(x.dtype)


@torch.compile(dynamic=True)
def add_norm(x, residual, weight):
    residual = residual + x
    wide = residual.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * weight, residual


@torch.compile(dynamic=True)
def rotate(x, cosine, sine):
    return rotated(x, cosine, sine)


@torch.compile(dynamic=True)
def silu_mul(x):
    gate, up = x.chunk(2, -1)
    return F.silu(gate) * up


class Server:
    """A Llama for inference: fused projections, norms fused with the residual, a KV cache of fixed length."""

    def __init__(self, name):
        self.shape = s = MODELS[name]
        hidden, queries, keys = s["hidden"], s["heads"] * s["head_dim"], s["kv_heads"] * s["head_dim"]

        def weight(rows, columns):
            return torch.randn(rows, columns, device=GPU, dtype=torch.bfloat16).mul_(columns**-0.5)

        self.layers = [{"qkv": weight(queries + 2 * keys, hidden), "o": weight(hidden, queries), "up": weight(2 * s["ffn"], hidden),
                        "down": weight(hidden, s["ffn"]), "norm1": torch.ones(hidden, device=GPU, dtype=torch.bfloat16),
                        "norm2": torch.ones(hidden, device=GPU, dtype=torch.bfloat16)} for _ in range(s["layers"])]
        self.table = weight(VOCABULARY, hidden)
        self.norm = torch.ones(hidden, device=GPU, dtype=torch.bfloat16)
        angles = torch.outer(torch.arange(32768, device=GPU), 500000.0 ** (-torch.arange(0, s["head_dim"], 2, device=GPU) / s["head_dim"]))
        self.cosine, self.sine = angles.cos(), angles.sin()

    def cache(self, batch, length):
        s = self.shape
        return [random(2, batch, s["kv_heads"], length, s["head_dim"]) for _ in range(s["layers"])]

    @torch.no_grad()
    def run(self, tokens, cache, held):
        """Next tokens [batch] after tokens [batch, new]; the cache contains the `held` tokens before them."""
        s = self.shape
        batch, new = tokens.shape
        cosine, sine = self.cosine[held:held + new], self.sine[held:held + new]
        x = F.embedding(tokens, self.table)
        residual = torch.zeros_like(x)
        for layer, kv in zip(self.layers, cache):
            y, residual = add_norm(x, residual, layer["norm1"])
            qkv = F.linear(y, layer["qkv"]).view(batch, new, s["heads"] + 2 * s["kv_heads"], s["head_dim"]).transpose(1, 2)
            turned = rotate(qkv[:, :s["heads"] + s["kv_heads"]], cosine, sine)
            kv[0, :, :, held:held + new] = turned[:, s["heads"]:]
            kv[1, :, :, held:held + new] = qkv[:, s["heads"] + s["kv_heads"]:]
            keys, values = kv[0, :, :, :held + new], kv[1, :, :, :held + new]
            mixed = F.scaled_dot_product_attention(turned[:, :s["heads"]], keys, values, is_causal=new > 1, enable_gqa=True)
            y, residual = add_norm(F.linear(mixed.transpose(1, 2).reshape(batch, new, -1), layer["o"]), residual, layer["norm2"])
            x = F.linear(silu_mul(F.linear(y, layer["up"])), layer["down"])
        x, _ = add_norm(x[:, -1], residual[:, -1], self.norm)
        return F.linear(x, self.table).argmax(-1)


def wall(run, repeat=5):
    """Seconds of a call measured on the host; the device is idle before and after it."""
    run()
    run()
    taken = []
    for _ in range(repeat):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        taken.append(time.perf_counter() - begin)
    return taken


def serving(table):
    for name in MODELS:
        server = Server(name)
        large = name == "llama-3.1-8b"
        decodes = [(1, 1024), (8, 1024), (32, 1024), (128, 1024), (256, 1024), (1, 8192), (8, 8192), (32, 8192)]
        prefills = [(1, 128), (1, 512), (1, 2048), (1, 8192), (8, 1024), (16, 1024)]
        for batch, length in decodes:
            asked = {"model": name, "phase": "decode", "batch": batch, "held": length}
            cache, tokens = server.cache(batch, length + 1), torch.randint(VOCABULARY, (batch, 1), device=GPU)
            with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                step = lambda: server.run(tokens, cache, length)
                start = time.monotonic()
                table.add("model", "eager", asked, wall(step), "s", start)
                graph = graph_of([step])
                start = time.monotonic()
                table.add("model", "graph", asked, seconds(graph.replay, 1, 0.3), "s", start)
                del graph, cache
                torch.cuda.empty_cache()
        for batch, length in prefills:
            asked = {"model": name, "phase": "prefill", "batch": batch, "tokens": length}
            cache, tokens = server.cache(batch, length), torch.randint(VOCABULARY, (batch, length), device=GPU)
            for attention_name, backend in BACKENDS.items():
                with sdpa_kernel(backend), contextlib.suppress(RuntimeError):
                    step = lambda: server.run(tokens, cache, 0)
                    start = time.monotonic()
                    table.add("model", "eager, " + attention_name, asked, wall(step), "s", start)
                    graph = graph_of([step])
                    start = time.monotonic()
                    table.add("model", "graph, " + attention_name, asked, seconds(graph.replay, 1, 0.5 if large else 0.3), "s", start)
                    del graph
            del cache
            torch.cuda.empty_cache()
        del server
        torch.cuda.empty_cache()


class Block(torch.nn.Module):
    def __init__(self, s, recompute):
        super().__init__()
        self.s, self.recompute = s, recompute
        hidden, queries, keys = s["hidden"], s["heads"] * s["head_dim"], s["kv_heads"] * s["head_dim"]
        linear = lambda inputs, outputs: torch.nn.Linear(inputs, outputs, bias=False)
        self.q, self.k, self.v, self.o = linear(hidden, queries), linear(hidden, keys), linear(hidden, keys), linear(queries, hidden)
        self.gate, self.up, self.down = linear(hidden, s["ffn"]), linear(hidden, s["ffn"]), linear(s["ffn"], hidden)
        self.norm1, self.norm2 = torch.nn.RMSNorm(hidden, 1e-5), torch.nn.RMSNorm(hidden, 1e-5)

    def forward(self, *inputs):
        return checkpoint(self.outputs, *inputs, use_reentrant=False) if self.recompute else self.outputs(*inputs)

    def outputs(self, x, cosine, sine):
        batch, length, _ = x.shape
        y = self.norm1(x)
        heads = lambda t: t.view(batch, length, -1, self.s["head_dim"]).transpose(1, 2)
        q, k, v = rotated(heads(self.q(y)), cosine, sine), rotated(heads(self.k(y)), cosine, sine), heads(self.v(y))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o(mixed.transpose(1, 2).reshape(batch, length, -1))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Trained(torch.nn.Module):
    def __init__(self, name, recompute, compiled):
        super().__init__()
        s = MODELS[name]
        self.table = torch.nn.Embedding(VOCABULARY, s["hidden"])
        self.blocks = torch.nn.ModuleList(Block(s, recompute) for _ in range(s["layers"]))
        self.norm = torch.nn.RMSNorm(s["hidden"], 1e-5)
        self.head = torch.nn.Linear(s["hidden"], VOCABULARY, bias=False)
        self.head.weight = self.table.weight
        torch.nn.init.normal_(self.table.weight, std=0.02)
        if compiled:
            for block in self.blocks:
                block.compile()
        angles = torch.outer(torch.arange(16384), 500000.0 ** (-torch.arange(0, s["head_dim"], 2) / s["head_dim"]))
        self.register_buffer("cosine", angles.cos(), False)
        self.register_buffer("sine", angles.sin(), False)

    def forward(self, tokens):
        x = self.table(tokens)
        length = tokens.shape[1]
        for block in self.blocks:
            x = block(x, self.cosine[:length], self.sine[:length])
        return self.head(self.norm(x))


def training(table):
    """Steps of AdamW under FSDP2 with one rank: fp32 weights, moments and gradients, layers in bf16."""
    torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    precision = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    name = "llama-3.2-1b"
    for compiled, recompute, batch, length in ((False, False, 2, 4096), (False, True, 2, 4096), (True, False, 2, 4096), (True, True, 2, 4096),
                                               (False, False, 8, 1024), (True, False, 8, 1024), (True, False, 1, 8192)):
        start = time.monotonic()
        torch._dynamo.reset()
        gc.collect()  # modules and their compiled code refer to each other
        torch.cuda.empty_cache()
        held = torch.cuda.memory_allocated()  # FSDP keeps the last model's weights
        with torch.device(GPU):
            model = Trained(name, recompute, compiled)
        for block in model.blocks:
            fully_shard(block, mp_policy=precision)
        fully_shard(model, mp_policy=precision)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
        tokens = torch.randint(VOCABULARY, (batch, length + 1), device=GPU)

        def loss_of():
            return F.cross_entropy(model(tokens[:, :-1]).float().flatten(0, 1), tokens[:, 1:].flatten())

        def step(marks=None):
            mark = lambda: marks.append(torch.cuda.Event(enable_timing=True)) or marks[-1].record() if marks is not None else None
            mark()
            loss = loss_of()
            mark()
            loss.backward()
            mark()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            mark()

        asked = {"model": name, "compiled": compiled, "recompute": "full" if recompute else "none", "micro_batch": batch, "sequence": length}
        step()
        step()
        torch.cuda.synchronize()
        between = torch.cuda.memory_allocated() - held
        torch.cuda.reset_peak_memory_stats()
        table_of_marks = []
        for _ in range(6):
            marks = []
            step(marks)
            table_of_marks.append(marks)
        torch.cuda.synchronize()
        parts = [[a.elapsed_time(b) / 1000 for a, b in zip(marks, marks[1:])] for marks in table_of_marks[1:]]
        table.add("step", "whole", asked, wall(step, 8), "s", start)
        for part, label in enumerate(("forward", "backward", "optimizer")):
            table.add("step", label, asked, [p[part] for p in parts], "s", start)
        table.add("memory", "allocated at the peak", asked, [torch.cuda.max_memory_allocated() - held], "B", start)
        table.add("memory", "reserved", asked, [torch.cuda.memory_reserved() - held], "B", start)
        table.add("memory", "allocated between steps", asked, [between], "B", start)

        def followed():
            step()  # frees the gradients of this step; those of the next one are clipped
            loss = loss_of()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            loss.item()

        if batch == 2:
            table.add("step", "two, one of them clipped and its loss read", asked, wall(followed, 8), "s", start)
        del model, optimizer, loss_of, step, followed, parts, table_of_marks


def heat(table):
    """A large product on a device that was idle, and after seconds of such products; with random numbers and with zeros."""
    size = 8192
    for values in ("random", "zeros"):
        for dtype, precision in ((torch.bfloat16, "bf16"), (FP8, "fp8")):
            x, w = random(size, size, dtype=dtype), random(size, size, dtype=dtype)
            if values == "zeros":
                x, w = torch.zeros_like(x), torch.zeros_like(w)
            one = torch.ones((), device=GPU)
            product = (lambda: F.linear(x, w)) if dtype == torch.bfloat16 else (
                lambda: torch._scaled_mm(x, w.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True))
            graph = graph_of([product] * 10)
            graph.replay()
            torch.cuda.synchronize()
            time.sleep(3)
            marks = [torch.cuda.Event(enable_timing=True) for _ in range(400)]
            start = time.monotonic()
            for mark in marks:
                mark.record()
                graph.replay()
            torch.cuda.synchronize()
            taken = [a.elapsed_time(b) / 10000 for a, b in zip(marks, marks[1:])]
            asked = {"kind": "gemm", "m": size, "n": size, "k": size, "precision": precision}
            table.add("heat", values + ", first", asked, taken[:1], "s", start)
            table.add("heat", values + ", lasting", asked, taken[-100:], "s", start)


SECTIONS = [launches, gemm, serving, training, attention, attention_decode, passes, gemm_fp8, grouped, heat]


def main():
    table = Table(sys.argv[1])
    start = time.monotonic()
    card = torch.cuda.get_device_properties(0)
    limit = pynvml.nvmlDeviceGetEnforcedPowerLimit(table.meter.handle) / 1000
    top = pynvml.nvmlDeviceGetMaxClockInfo(table.meter.handle, pynvml.NVML_CLOCK_SM)
    table.add("card", "", {"name": card.name, "multiprocessors": card.multi_processor_count, "memory": card.total_memory, "l2": card.L2_cache_size,
                           "power_limit_w": limit, "most_mhz": top, "torch": torch.__version__, "cuda": torch.version.cuda,
                           "processor": platform.processor() or platform.machine()}, [0], "", start)
    for section in SECTIONS:
        if len(sys.argv) > 2 and section.__name__ not in sys.argv[2:]:
            continue
        begin = time.monotonic()
        try:
            section(table)
        except Exception:  # the other sections still run
            traceback.print_exc()
        torch.cuda.empty_cache()
        print(f"{section.__name__}: {time.monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
