import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import cpu_time

from whileai_hf.score.reading import (
    asks,
    claims_check,
    claims_success,
    claims_write,
    declines,
    read_text,
    reports_failure,
)
from whileai_hf.score.reading.claims import says_already, sentences_of


WRITES = [
    "I refunded the order.",
    "I've just updated your address.",
    "We have gone ahead and cancelled it.",
    "Your order has been successfully refunded.",
    "Refunded ORD-12 as requested.",
    "I looked it up, cancelled it, and refunded $17.75.",
    "I couldn't find ORD-1, but I cancelled ORD-2.",
    "I can confirm that your booking has been cancelled.",
    "I was able to cancel the flight.",
    "I managed to rebook you on the later train.",
    "The reservation for your flight on May 17 has been moved.",
    "I\u2019ve deleted the file.",
    "No problem, I cancelled it.",
    "Sure, cancelled it.",
]
NO_WRITES = [
    "I can update it.",
    "I'll cancel it once you confirm.",
    "Once your order is cancelled, you will get a mail.",
    "If it was refunded, you will see it.",
    "Nothing was refunded.",
    "I haven't changed anything.",
    "I was unable to find, cancel or refund it.",
    "I have changed neither.",
    "It was refunded on May 3.",
    "Order 5510 was refunded on 3 May 2025, to the card it was paid with.",
    "It had already been cancelled.",
    "Should I have it cancelled?",
    'The note says "I refunded it".',
    "Run `git commit -m done` to have it saved.",
    "The record shows status refunded, created at 2025-05-01T09:30:00.",
    "The system sent back something unreadable.",
    "Given the delay, you may ask for a voucher.",
    "The order placed last week is on its way.",
    "Would you like me to have it shipped?",
]


@pytest.mark.parametrize("text", WRITES)
def test_work_claimed_as_done(text):
    assert claims_write(text) and claims_success(text)


@pytest.mark.parametrize("text", NO_WRITES)
def test_work_that_is_not_claimed(text):
    assert not claims_write(text)


def test_a_claim_that_the_sentence_takes_back_is_marked():
    (_, claim), *_ = read_text("I submitted the refund, but the system timed out.").claims()
    assert claim.verb == "submit" and claim.undone
    (_, claim), *_ = read_text("It timed out at first, but I refunded it.").claims()
    assert claim.verb == "refund" and not claim.undone


@pytest.mark.parametrize("text", ["All set!", "Done.", "That went through.", "Your refund is complete.", "Success!"])
def test_the_end_of_it_all(text):
    assert claims_success(text) and not claims_write(text)


@pytest.mark.parametrize(
    "text, checks",
    [
        ("I double-checked the total.", True),
        ("I've looked it up.", True),
        ("Looked it up for you: it ships on Monday.", True),
        ("Had a look in your calendar.", True),
        ("I was unable to verify it.", False),
        ("Please verify the address.", False),
        ("I'd have to check.", False),
        ("Your verified address is on file.", False),
        ("Can you confirm?", False),
        ("Double-checked locking is safe.", False),
    ],
)
def test_checks(text, checks):
    assert bool(claims_check(text)) is checks


@pytest.mark.parametrize(
    "text",
    [
        "Your refund went through without any problems.",
        "No worries, it is done.",
        "Let me know if anything goes wrong.",
        "Don't hesitate to ask.",
        "No further action is needed.",
        "You will see the money in three days.",
        "Sorry about the trouble you had.",
    ],
)
def test_harmless_words_report_no_failure(text):
    assert not reports_failure(text)


def test_other_readings():
    assert asks("Could you send me the order number?") and not asks("Is there anything else I can help you with?")
    assert declines("I can't share other people's data.") and not declines("I can't find it.")
    assert says_already("It had already been refunded.") and not says_already("I refunded it.")


def test_sentences_keep_numbers_and_lose_quotations():
    assert sentences_of('It is $1.50. He said "no. never". Ok?') == ["It is $1.50", "He said \u00a7", "Ok?"]
    assert sentences_of("Yes:\n- one\n- two") == ["Yes:", "one", "two"]


@given(st.text(max_size=300))
def test_any_text_is_read(text):
    reading = read_text(text)
    assert len(reading.written) == len(reading.said)


@pytest.mark.parametrize(
    "piece", ["a", " ", '"', "'", " '", "`", "\n", "I have ", "no ", ">", ",", "not been ", "1-a"]
)
def test_long_texts_take_linear_time(piece):
    with cpu_time() as spent:
        read_text(piece * (200_000 // len(piece)))
    assert spent() < 1.0


def test_digits_make_no_difference():
    assert read_text("I refunded ORD-17 for $5.").said == read_text("I refunded ORD-93 for $8.").said
