"""A model judge at concurrency 128 against a scripted server: throughput as a share of the ideal. One JSON line.

The ideal is every slot waiting for the model all the time: rows x latency / concurrency. The server runs in a process
of its own, as a real one does. `client` is requests of the same length without a judge: what is missing there is the
HTTP client's. A second run over the same rows shows what the cache of verdicts costs.
"""

import json
import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path


LATENCY_S = float(os.environ.get("LATENCY_S", "0.5"))  # of a short answer
CONCURRENCY = 128
ROWS_PER_SLOT = 20
ANSWER = '{"reason": "The order was looked up before the refund.", "verdict": "pass"}'


def serve(pipe) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
    from openai_server import Reply, Server

    with Server(lambda request, n: Reply(ANSWER, wait=LATENCY_S)) as server:
        pipe.send(server.spec)
        while pipe.recv() == "calls":
            pipe.send(server.calls)


def make_row(number: int) -> dict:
    order = f"ORD-{number:05d}"
    call = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": {"order_id": order}}}
    return {
        "prompt": f"Please refund {order}.",
        "messages": [
            {"role": "system", "content": "You are the order desk. Look an order up before any refund. " * 10},
            {"role": "user", "content": f"Please refund {order}."},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "name": "get_order", "content": '{"status": "delivered"}' * 20},
            {"role": "assistant", "content": f"I have refunded {order}."},
        ],
        "final_text": f"I have refunded {order}.",
    }


def plain_call(spec: str):
    from whileai_hf.actors.models import as_model

    model = as_model(spec, temperature=0.0)
    filler = "Here is a run to be graded, as long as the others. " * 60

    async def call(row):
        await model.complete([{"role": "user", "content": f"{row['prompt']} {filler}"}])
        return 1.0

    return call


def main() -> None:
    os.environ["HF_ASSETS_CACHE"] = tempfile.mkdtemp(prefix="whileai-hf-bench-")
    from whileai_hf.score.judges import Judge
    from whileai_hf.score.judging import judge_rows

    pipe, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    spec = pipe.recv()
    judge = Judge(spec, "An order is looked up before it is refunded.")
    rows = [make_row(number) for number in range(CONCURRENCY * ROWS_PER_SLOT)]
    judge_rows(judge, [make_row(number) for number in range(-CONCURRENCY, 0)], concurrency=CONCURRENCY)  # connections
    started, cpu = time.perf_counter(), time.process_time()
    judge_rows(plain_call(spec), rows, concurrency=CONCURRENCY)
    client_seconds = time.perf_counter() - started
    client_cpu = time.process_time() - cpu
    runs = []
    for _ in range(2):
        pipe.send("calls")
        before = pipe.recv()
        started, cpu = time.perf_counter(), time.process_time()
        verdicts = judge_rows(judge, rows, concurrency=CONCURRENCY)
        seconds = time.perf_counter() - started
        cpu = time.process_time() - cpu
        pipe.send("calls")
        runs.append({"seconds": round(seconds, 3), "cpu": cpu, "calls": pipe.recv() - before})
        assert all(verdict.reward == 1.0 for verdict in verdicts)
    pipe.send("stop")
    server.join(10)
    ideal = len(rows) * LATENCY_S / CONCURRENCY
    print(
        json.dumps(
            {
                "bench": "judging",
                "latency_s": LATENCY_S,
                "concurrency": CONCURRENCY,
                "rows": len(rows),
                "seconds": runs[0]["seconds"],
                "share_of_ideal": round(ideal / runs[0]["seconds"], 3),
                "client_share_of_ideal": round(ideal / client_seconds, 3),
                "cpu_ms_a_row": round(1e3 * runs[0]["cpu"] / len(rows), 3),
                "client_cpu_ms_a_row": round(1e3 * client_cpu / len(rows), 3),
                "again_seconds": runs[1]["seconds"],
                "again_calls": runs[1]["calls"],
            }
        )
    )


if __name__ == "__main__":
    main()
