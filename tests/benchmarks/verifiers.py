"""Rows a second of every verifier, called directly and through `run_judge` on a list of dicts. One JSON line.

A third of the replies are wrong. Times are of the processor, best of three, beside a fixed piece of work that tells
how fast the machine is now; MathEqual is timed by the clock, once, and its direct time is that of rows it knows.
"""

import json
import time

from datasets import disable_progress_bars

import whileai_hf as wai
from whileai_hf.score.verify import (
    ExactMatch,
    Includes,
    JSONField,
    JSONSchema,
    JSONValid,
    MathEqual,
    MultipleChoice,
    Numeric,
    Regex,
    ToolCalls,
)


ROWS, MATH_ROWS, ROUNDS = 20_000, 2_000, 3
SCHEMA = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}, "amount": {"type": "number", "minimum": 0}},
    "required": ["order_id", "amount"],
    "additionalProperties": False,
}
ASK = "What is the total of my order, and has it been shipped already?"


def texts(index: int) -> dict:
    answer = f"{index % 997}.50"
    said = answer if index % 3 else "12.25"
    return {
        "prompt": ASK,
        "final_text": f"I looked up your order: the total is ${said} and it shipped.",
        "answer": answer,
    }


def exact(index: int) -> dict:
    return {"prompt": ASK, "final_text": f"Order {index}", "answer": f"order {index if index % 3 else 0}"}


def letters(index: int) -> dict:
    reply = f"Only one of them fits the description. The answer is ({'ABC'[index % 3]})."
    return {"prompt": ASK, "final_text": reply, "answer": "B" if index % 2 else "C"}


def documents(index: int) -> dict:
    amount = index / 2 if index % 3 else -1
    return {"prompt": ASK, "final_text": json.dumps({"order_id": f"A{index}", "amount": amount}), "answer": index / 2}


def calls(index: int) -> dict:
    steps = [{"tool": "get_order", "arguments": {"order_id": f"A{index}"}, "result": {"status": "ok"}}]
    wanted = [{"tool": "get_order", "arguments": {"order_id": f"A{index if index % 3 else 0}"}}]
    return {"prompt": ASK, "steps": steps, "final_text": "It shipped.", "expected_calls": wanted}


def mathematics(index: int) -> dict:
    """Half numbers and equal text, a quarter simple formulas that are new, a quarter that come again and again."""
    n, kind = index // 4, index % 4
    m, again = n // 4 + 2, n % 10
    simple = (
        (rf"Hence \boxed{{\frac{{{m}}}{{{2 * m}}}}}", r"\frac{1}{2}"),
        (rf"The expansion is \boxed{{x^2 + {2 * m}x + {m * m}}}", f"(x+{m})^2"),
        (rf"The answer is $\frac{{x}}{{{m}}}$.", rf"\frac{{2x}}{{{2 * m}}}"),
        (rf"So it is \boxed{{{m}x+1}}", f"{m}x+2"),
    )
    repeated = (
        (rf"The answer is $\sqrt{{{again * again * 2}}}$", rf"{again}\sqrt{{2}}"),
        (rf"It lies in \boxed{{[0, {again})}}", f"[0,{again}]"),
    )
    reply, gold = (
        (f"Adding up gives {n + 3}. The answer is {n}.", f"{n if n % 3 else 7}"),
        (rf"So $x = \boxed{{y_{n}}}$.", f"y_{n}"),
        simple[n % 4],
        repeated[n % 2],
    )[kind]
    return {"prompt": "Solve the problem that the teacher put on the board.", "final_text": reply, "answer": gold}


CASES = [
    (ExactMatch(), exact, ROWS),
    (Includes(), texts, ROWS),
    (Regex(r"total is \$([\d.]+)", group=1), texts, ROWS),
    (Numeric(), texts, ROWS),
    (MultipleChoice(), letters, ROWS),
    (JSONValid(), documents, ROWS),
    (JSONSchema(SCHEMA), documents, ROWS),
    (JSONField("amount"), documents, ROWS),
    (ToolCalls(), calls, ROWS),
    (MathEqual(), mathematics, MATH_ROWS),
]


def calibration() -> float:
    """Microseconds of a fixed piece of work, best of many: what a figure has to be compared with."""
    best = float("inf")
    for _ in range(50):
        started = time.process_time()
        for _ in range(20):
            sum(range(1000))
        best = min(best, (time.process_time() - started) / 20)
    return round(best * 1e6, 2)


def measure(judge, build, count: int) -> dict:
    rows = [build(index) for index in range(count)]
    judge(rows[0])
    wai.run_judge(rows[:8], judge)
    away = judge.name == "math_equal"  # its work is in another process, and done only once
    clock, rounds = (time.perf_counter, 1) if away else (time.process_time, ROUNDS)
    judged = direct = float("inf")
    for _ in range(rounds):
        started = clock()
        graded = wai.run_judge(rows, judge)
        judged = min(judged, clock() - started)
    for _ in range(rounds):
        started = clock()
        for row in rows:
            judge(row)
        direct = min(direct, clock() - started)
    return {
        "run_judge_rows_s": round(count / judged),
        "direct_us": round(direct / count * 1e6, 1),
        "mean_reward": round(sum(graded["reward"][:]) / count, 3),
    }


def main() -> None:
    disable_progress_bars()
    found = {judge.name: measure(judge, build, count) for judge, build, count in CASES}
    print(
        json.dumps(
            {"bench": "verifiers", "rows": ROWS, "math_rows": MATH_ROWS, "calibration_us": calibration(), **found}
        )
    )


if __name__ == "__main__":
    main()
