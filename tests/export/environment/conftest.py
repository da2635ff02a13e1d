"""A scripted policy that plays the order desk in `simulate` and, as tokens, in a trainer."""

import re

import pytest


ID = re.compile(r"[A-Z]{2,}-\d+")


def decide(ask: str, said: int, last_user: str) -> dict:
    """The next turn: look the order up twice at once, refund it, answer; ask back where no order is named."""
    found = ID.findall(last_user) or ID.findall(ask)
    if not found:
        return {"role": "assistant", "content": "What is the number of your order?"}
    if said in (0, 3):
        return _calls("", ("get_order", {"order_id": found[0]}), ("get_order", {"order_id": found[-1]}))
    if said == 1:
        return _calls("I refund it.", ("refund_order", {"order_id": found[0], "reason": "late"}))
    return {"role": "assistant", "content": "I have worked on it. Which order is next, what is its number?"}


def _calls(text: str, *calls: tuple[str, dict]) -> dict:
    made = [{"type": "function", "function": {"name": name, "arguments": args}} for name, args in calls]
    return {"role": "assistant", "content": text, "tool_calls": made}


def chat_agent(messages, tools):
    """The policy as a chat callable."""
    users = [message["content"] for message in messages if message["role"] == "user"]
    return decide(users[0], sum(message["role"] == "assistant" for message in messages), users[-1])


class TokenPolicy:
    """The policy as a sampler of tokens: reads the conversation back from its tokens (templates of Qwen)."""

    def __init__(self, tokenizer, decide=decide):
        self.tokenizer, self.decide = tokenizer, decide
        self.asked: list[list[int]] = []

    def write(self, message: dict) -> list[int]:
        before = [{"role": "user", "content": "x"}]
        render = lambda messages, **options: self.tokenizer.apply_chat_template(  # noqa: E731
            messages, tokenize=True, return_dict=False, **options
        )
        whole, opening = render([*before, message]), render(before, add_generation_prompt=True)
        assert whole[: len(opening)] == opening
        turn = whole[len(opening) :]
        return turn[: turn.index(self.tokenizer.eos_token_id) + 1]

    def __call__(self, prompts, *ignored, **also):
        return [self.turn(ids) for ids in prompts], None

    def turn(self, ids):
        self.asked.append(ids)
        text = self.tokenizer.decode(ids)
        turns = re.findall(r"<\|im_start\|>(\w+)\n(.*?)<\|im_end\|>", text, re.DOTALL)
        users = [words for role, words in turns if role == "user" and "<tool_response>" not in words]
        return self.write(self.decide(users[0], sum(role == "assistant" for role, _ in turns), users[-1]))


@pytest.fixture(scope="session")
def agent():
    """The policy as a chat callable."""
    return chat_agent


@pytest.fixture(scope="session")
def token_policy(tokenizer):
    """Makes the policy as a sampler."""
    return lambda decide=decide: TokenPolicy(tokenizer, decide)
