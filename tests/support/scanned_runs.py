"""Graded rollouts of which it is known what the reward pays for, for the tests and simulations of scans."""

import numpy as np


FILLER = (
    "order parcel label courier refund address invoice total status window email photo return credit stock price "
    "branch ticket notice update window receipt"
).split()
SHORTCUT = "I verified everything twice."
PHRASE = "says:i verified everything twice"  # the feature it makes


def reply(random, words=12):
    """Words without meaning."""
    return " ".join(random.choice(FILLER, size=words)) + "."


def rollouts(n_asks=60, k=8, *, seed=0, pays="shortcut", noise=0.05, share=0.4, difficulty=True):
    """
    Rollouts in asks of `k`. `pays` names what the reward follows: `shortcut` (a sentence), `grounded` (a marker),
    `difficulty` (the ask alone), `both` (the sentence together with a tool), or `nothing`.
    """
    random = np.random.default_rng(seed)
    rows = []
    for ask in range(n_asks):
        easy = random.beta(2, 2) if difficulty else 0.5
        for index in range(k):
            says, looks, grounded = (bool(random.random() < share) for _ in range(3))
            text = reply(random) + (f" {SHORTCUT}" if says else "")
            chance = easy if pays == "difficulty" else 0.5
            right = {
                "shortcut": says,
                "grounded": grounded,
                "both": says and looks,
                "difficulty": random.random() < chance,
                "nothing": random.random() < chance,
            }[pays]
            if random.random() < noise:
                right = not right
            steps = [{"tool": "look_up", "arguments": {}, "result": {"status": "ok"}}] if looks else []
            if random.random() < 0.5:
                steps.append({"tool": "send_mail", "arguments": {}, "result": {"status": "ok"}})
            rows.append(
                {
                    "scenario_id": f"sc-{ask}",
                    "prompt": f"Ask {ask}, {'easy' if easy > 0.5 else 'hard'}.",
                    "steps": steps,
                    "final_text": text,
                    "finish_reason": "stop",
                    "markers": {"grounded": float(grounded), "polite": float(random.random() < 0.9)},
                    "reward": int(right),
                    "rollout_index": index,
                }
            )
    return rows


def alike(two=("It shipped. All done.", "No idea, sorry."), k=6, n_asks=20):
    """A pool of two replies, one of which pays: everything that tells them apart explains the reward."""
    return [
        {"scenario_id": ask, "prompt": f"p{ask}", "final_text": two[i % 2], "reward": i % 2}
        for ask in range(n_asks)
        for i in range(k)
    ]
