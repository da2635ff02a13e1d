"""A server that fails: what is asked again, what is given up, what stops the run, and at what cost."""

import asyncio
import socket
import threading
from time import monotonic

import pytest
from openai_server import Reply, Server, flaky, http_date

from whileai_hf.actors.models.endpoint import parse, served
from whileai_hf.actors.models.patience import Patience
from whileai_hf.actors.models.remote import RemoteModel
from whileai_hf.actors.models.sampling import Sampling
from whileai_hf.errors import ModelError, ModelStopError


KEY = "sk-very-secret"


def asks(count):
    return [[{"role": "user", "content": f"ask {number}"}] for number in range(count)]


class DeafHost:
    """Takes connections and hangs up on each; counts them."""

    def __init__(self):
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()


def test_one_request_in_ten_fails_and_no_call_is_lost(serve, connect, complete_all):
    server = serve(flaky(lambda request, n: request["messages"][-1]["content"].upper(), share=0.1, seed=3))
    answers = complete_all(connect(server), asks(300))
    assert [answer.message["content"] for answer in answers] == [f"ASK {number}" for number in range(300)]
    assert server.answered == 300
    faults = {status: count for status, count in server.statuses.items() if status != 200}
    assert set(faults) == {0, 429, 500} and sum(faults.values()) > 15


@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 504, 529])
def test_faults_that_pass_are_asked_again(status, serve, connect, complete, time):
    server = serve([Reply.error(status), Reply.error(status), "Here."])
    assert complete(connect(server)).message["content"] == "Here."
    assert server.calls == 3
    assert len(time.slept) >= 2


def test_waits_double_below_a_ceiling_and_differ_between_calls(time):
    patience = time.patience()
    assert [patience.ceiling(failed) for failed in (1, 2, 3, 7, 50)] == [0.5, 1.0, 2.0, 30.0, 30.0]
    delays = [patience.delay(4, call) for call in range(200)]
    assert 0 <= min(delays) < 0.4 and 3.6 < max(delays) <= 4.0


@pytest.mark.parametrize("header", [lambda: "70", lambda: http_date(70)])
def test_retry_after_is_waited_for(header, serve, connect, complete, time):
    server = serve([Reply.busy(header()), "Here."])
    assert complete(connect(server)).message["content"] == "Here."
    assert 68 <= max(time.slept) <= 72


def test_a_wait_the_server_asked_for_holds_all_calls(serve, connect, complete_all):
    """Those that are under way when one is refused go on; the others wait, or they would be refused, too."""
    asked_at = []

    def behave(request, n):
        asked_at.append(monotonic())
        return Reply.busy(0.4) if n == 0 else Reply("Here.").after(0.1)

    answers = complete_all(connect(serve(behave), Patience()), asks(20))
    assert [answer.message["content"] for answer in answers] == ["Here."] * 20
    assert len(asked_at) == 21
    assert sum(moment - asked_at[0] < 0.4 for moment in asked_at) <= 4


def test_a_busy_server_uses_up_time_not_tries(serve, connect, complete):
    server = serve([*[Reply.busy(1)] * 20, "Here."])
    assert complete(connect(server)).message["content"] == "Here."


def test_a_server_busy_for_good_ends_the_call(serve, connect, complete, time):
    server = serve(lambda request, n: Reply.busy(9))
    with pytest.raises(ModelError, match=r"gave no answer after .* tries: HTTP 429: Rate limit reached") as caught:
        complete(connect(server))
    assert not isinstance(caught.value, ModelStopError)
    assert time.now - 1_000 <= 300
    assert server.calls < 40


@pytest.mark.parametrize(
    "reply",
    [
        Reply.quota(),
        Reply.busy(None, "Daily token limit reached, come back tomorrow"),
        Reply.busy(None, "Your allowance of 25k tokens is spent"),
        Reply.busy(86_400),
        Reply.busy(http_date(7_200)),
        Reply.error(402, "You have exceeded your monthly included credits"),
    ],
)
def test_a_spent_allowance_stops_the_run(reply, serve, connect, complete_all):
    server = serve(lambda request, n: reply)
    errors = complete_all(connect(server), asks(100))
    assert {error.reason for error in errors} == {"quota_spent"}
    assert "no allowance left" in str(errors[0])
    assert server.calls <= 10


@pytest.mark.parametrize(
    "reply",
    [Reply.busy(1, "Quota exceeded for requests per minute"), Reply.busy(None, "quota of tokens per minute exceeded")],
)
def test_a_limit_by_the_minute_is_no_spent_allowance(reply, serve, connect, complete):
    assert complete(connect(serve([reply, "Here."]))).message["content"] == "Here."


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply.unauthorized(), "unauthorized"),
        (Reply.error(403, "forbidden"), "unauthorized"),
        (Reply.unknown_model(), "unknown_model"),
        (Reply.error(400, "The requested model 'x' does not exist"), "unknown_model"),
    ],
)
def test_what_no_second_try_mends_stops_at_once(reply, reason, serve, complete, time):
    server = serve(lambda request, n: reply)
    model = RemoteModel(served(server.url, "small", KEY), patience=time.patience())
    with pytest.raises(ModelStopError) as caught:
        complete(model)
    assert caught.value.reason == reason
    assert server.calls == 1
    text = str(caught.value)
    assert "small" in text and server.url in text and KEY not in text


def test_a_key_that_the_server_repeats_is_not_shown(serve, complete):
    for status in (401, 400):
        server = serve([Reply.error(status, f"Incorrect API key provided: {KEY}")])
        with pytest.raises(ModelError) as caught:
            complete(RemoteModel(served(server.url, "small", KEY)))
        assert "Incorrect API key" in str(caught.value) and KEY not in str(caught.value)


def test_a_stopped_model_sends_nothing_more(serve, connect, complete_all):
    server = serve(lambda request, n: Reply.unauthorized())
    model = connect(server)

    async def twice():
        first = await asyncio.gather(model.complete(asks(1)[0]), return_exceptions=True)
        second = await asyncio.gather(*(model.complete(ask) for ask in asks(50)), return_exceptions=True)
        return first + second

    errors = asyncio.run(twice())
    assert all(isinstance(error, ModelStopError) for error in errors)
    assert server.calls == 1


def test_a_dead_endpoint_costs_a_handful_of_calls(complete_all, time):
    with DeafHost() as host:
        model = RemoteModel(served(host.url, "small"), patience=time.patience())
        errors = complete_all(model, asks(300))
        assert {type(error) for error in errors} == {ModelStopError}
        assert {error.reason for error in errors} == {"model_unreachable"}
        assert host.connections <= 6
    assert host.url in str(errors[0])


def test_a_port_nobody_listens_on(complete_all, time):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    model = RemoteModel(served(f"http://127.0.0.1:{port}/v1", "small"), patience=time.patience())
    errors = complete_all(model, asks(50))
    assert {error.reason for error in errors} == {"model_unreachable"}


def test_a_host_that_hangs_is_unreachable(serve, connect, complete, time):
    server = serve(lambda request, n: Reply("late").after(30))
    with pytest.raises(ModelStopError, match=r"no answer within 0\.05 s"):
        complete(connect(server, timeout=0.05))
    assert server.calls <= 6


def test_slow_is_not_dead(serve, connect, complete_all, monkeypatch):
    """Before the first answer few go ahead; when nothing fails for a while, the others follow."""
    monkeypatch.setattr("whileai_hf.actors.models.line._SLOW_SECONDS", 0.1)
    server = serve(lambda request, n: Reply("Here.").after(0.8))
    answers = complete_all(connect(server), asks(140))
    assert [answer.message["content"] for answer in answers] == ["Here."] * 140
    assert server.most >= 128


def test_an_outage_is_waited_out(serve, connect, complete_all, time):
    """The server goes away in the middle of the run and comes back; nothing is lost, and few calls went to look."""
    down = []

    def behave(request, n):
        if n < 50:
            return "Here."
        if not down:
            down.append(time.now)
        return Reply.drop() if time.now - down[0] < 45 else "Here."

    server = serve(behave)
    model = connect(server)

    async def run():
        gate = asyncio.Semaphore(8)

        async def one(ask):
            async with gate:
                return await model.complete(ask)

        return await asyncio.gather(*(one(ask) for ask in asks(120)), return_exceptions=True)

    answers = asyncio.run(run())
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert server.statuses[0] < 25


def test_a_host_that_went_away_for_good_stops_the_run(serve, connect, time):
    server = serve(lambda request, n: "Here." if n < 20 else Reply.drop())
    model = connect(server)

    async def run():
        first = await asyncio.gather(*(model.complete(ask) for ask in asks(20)))
        return first, await asyncio.gather(*(model.complete(ask) for ask in asks(60)), return_exceptions=True)

    first, errors = asyncio.run(run())
    assert len(first) == 20
    assert sum(isinstance(error, ModelStopError) for error in errors) > 55
    # Those in flight when it went, and the ones that looked whether it is back.
    assert server.statuses[0] < 80


def test_a_request_that_crashes_the_server_costs_itself_only(serve, connect, complete_all):
    def behave(request, n):
        return Reply.drop() if request["messages"][0]["content"] == "ask 7" else "Here."

    server = serve(behave)
    answers = complete_all(connect(server), asks(60))
    lost = [number for number, answer in enumerate(answers) if isinstance(answer, Exception)]
    assert lost == [7]
    assert not isinstance(answers[7], ModelStopError)


def test_a_server_that_only_fails_stops_the_run(serve, connect, complete_all):
    server = serve(lambda request, n: Reply.error(500, "CUDA out of memory"))
    model = connect(server)

    async def run():
        errors = []
        for ask in asks(20):
            errors += await asyncio.gather(model.complete(ask), return_exceptions=True)
        return errors

    errors = asyncio.run(run())
    assert isinstance(errors[0], ModelError) and not isinstance(errors[0], ModelStopError)
    assert "CUDA out of memory" in str(errors[0])
    assert isinstance(errors[-1], ModelStopError) and errors[-1].reason == "model_unreachable"
    assert server.calls <= 5 * 8


@pytest.mark.parametrize("reply", [Reply.garbage(), Reply(body={"choices": []}), Reply(body=[1])])
def test_an_answer_without_a_completion_is_asked_again(reply, serve, connect, complete):
    assert complete(connect(serve([reply, "Here."]))).message["content"] == "Here."


def test_an_error_inside_an_answer_counts_as_one(serve, connect, complete):
    error = {"error": {"message": "No auth credentials found", "code": 401}}
    with pytest.raises(ModelStopError) as caught:
        complete(connect(serve([Reply(body=error)])))
    assert caught.value.reason == "unauthorized"


def test_a_refused_request_is_one_call_s_error(serve, connect, complete):
    server = serve(lambda request, n: Reply.error(400, "This model's maximum context length is 8192 tokens"))
    with pytest.raises(ModelError, match="maximum context length is 8192 tokens") as caught:
        complete(connect(server))
    assert not isinstance(caught.value, ModelStopError)
    assert server.calls == 1


def test_a_cancelled_call_leaves_the_line(serve, connect):
    """A call that is cancelled while it goes first must not keep the others waiting."""
    server = serve(lambda request, n: Reply("late").after(5) if n < 4 else "Here.")
    model = connect(server)

    async def run():
        stuck = [asyncio.create_task(model.complete(ask)) for ask in asks(4)]
        while server.calls < 4:
            await asyncio.sleep(0.001)
        waiting = asyncio.create_task(model.complete(asks(1)[0]))
        await asyncio.sleep(0.01)
        for task in stuck:
            task.cancel()
        return await asyncio.wait_for(waiting, 5)

    assert asyncio.run(run()).message["content"] == "Here."


def test_one_client_serves_many_event_loops(serve, connect, complete):
    server = serve("Here.")
    model = connect(server)
    assert [complete(model).message["content"] for _ in range(3)] == ["Here."] * 3


def test_a_missing_key_is_said_before_anything_is_sent(monkeypatch, complete):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelStopError, match="set OPENAI_API_KEY") as caught:
        complete(RemoteModel(parse("openai:some-model")))
    assert caught.value.reason == "unauthorized"


def test_offline_mode_rules_out_the_hub_and_nothing_else(monkeypatch, serve, connect, complete):
    """The tests themselves run with HF_HUB_OFFLINE=1."""
    assert complete(connect(serve("Here."))).message["content"] == "Here."
    monkeypatch.setenv("HF_TOKEN", "hf_test")
    with pytest.raises(ModelStopError, match="HF_HUB_OFFLINE"):
        complete(RemoteModel(parse("hf:Qwen/Qwen3-4B"), Sampling()))


def test_the_server_ends_by_itself():
    with Server("Here.", most_requests=2) as server:
        model = RemoteModel(parse(server.spec))
        asyncio.run(model.complete(asks(1)[0]))
        asyncio.run(model.complete(asks(1)[0]))
        with pytest.raises(ModelError, match="served its time"):
            asyncio.run(model.complete(asks(1)[0]))
