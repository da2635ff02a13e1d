"""Word lists the world draws from. Data only; what a parameter needs is decided in `strings.py`.

The lists are long enough that two thousand draws do not look alike, and hold nothing that names a real person's
record, a real mailbox (`example.com` is reserved for this) or a live host.
"""

from __future__ import annotations

from whileai_hf.sandbox.naming import listed


FIRST_NAMES = listed(
    "Noah Mia Sara Omar Lena Ivan Yara Hugo Aisha Emma Liam Chen Priya Mateo Olga Ravi Nina Tariq Julia "
    "Marco Fatima Daniel Amara Sofia Kenji Leila Anton Grace Pedro Ines Jonas Mei Carlos Elena Samir Ruth "
    "Viktor Alice Bob Eve"
)
LAST_NAMES = listed(
    "Brown Doe Li Rossi Kim Novak Silva Khan Garcia Meyer Tanaka Ali Jensen Costa Moreau Patel Lopez "
    "Ahmed Sato Kowalski Muller Santos Nguyen Haddad Johnson Petrov Davis Okafor Larsen Martin Wilson "
    "Fischer Anderson Kovac"
)
CITIES = listed(
    "Oslo Lisbon Chicago Boston Denver Seattle Austin Toronto Madrid Berlin Paris Rome Vienna Prague "
    "Dublin Porto Kyoto Osaka Seoul Sydney Melbourne Nairobi Accra Lima Quito Bogota Houston Phoenix "
    "Atlanta Miami"
)
COUNTRIES = listed(
    "Norway Portugal Canada Spain Germany France Italy Austria Ireland Japan Kenya Ghana Peru Chile Brazil"
)
STREETS = listed(
    "Oak Maple Cedar Pine Elm Birch Walnut Chestnut Willow Main Park Lake Hill River Station Mill Church High"
)
# IATA code to city.
AIRPORTS = {
    "JFK": "New York", "SFO": "San Francisco", "LAX": "Los Angeles", "ORD": "Chicago", "SEA": "Seattle",
    "BOS": "Boston", "ATL": "Atlanta", "DFW": "Dallas", "DEN": "Denver", "MIA": "Miami", "PHX": "Phoenix",
    "IAH": "Houston", "EWR": "Newark", "MCO": "Orlando", "CLT": "Charlotte", "LAS": "Las Vegas",
    "MSP": "Minneapolis", "DTW": "Detroit", "PHL": "Philadelphia", "LHR": "London", "CDG": "Paris",
    "FRA": "Frankfurt", "AMS": "Amsterdam", "MAD": "Madrid", "LIS": "Lisbon", "DUB": "Dublin", "VIE": "Vienna",
}  # fmt: skip
CHANNELS = listed(
    "general random engineering design support sales marketing releases incidents hiring finance "
    "onboarding product research security data-team frontend backend mobile announcements"
)
# IANA names with their offset from UTC in minutes on the world's day (see `clock.py`), so that a machine without a
# time zone database answers the same.
ZONES = {
    "Etc/UTC": 0,
    "UTC": 0,
    "America/New_York": -240,
    "America/Chicago": -300,
    "America/Denver": -360,
    "America/Los_Angeles": -420,
    "America/Sao_Paulo": -180,
    "Europe/London": 0,
    "Europe/Lisbon": 0,
    "Europe/Paris": 60,
    "Europe/Berlin": 60,
    "Europe/Warsaw": 60,
    "Europe/Athens": 120,
    "Africa/Lagos": 60,
    "Africa/Nairobi": 180,
    "Asia/Dubai": 240,
    "Asia/Kolkata": 330,
    "Asia/Singapore": 480,
    "Asia/Tokyo": 540,
    "Australia/Brisbane": 600,
    "Pacific/Auckland": 780,
}
ADJECTIVES = listed(
    "blue red small heavy spare green quiet bright folding wooden silver compact portable vintage "
    "cordless insulated waterproof striped oak leather ceramic steel cotton recycled"
)
THINGS = listed(
    "kettle lamp tent jacket bicycle printer sofa camera backpack blender router monitor keyboard drill "
    "ladder stroller grill heater vacuum guitar mattress helmet speaker tripod toaster scooter desk chair"
)
TOPICS = listed(
    "budget roadmap onboarding launch invoice travel security hiring migration review training quarterly "
    "planning retention pricing outage release contract research survey inventory logistics"
)
FILE_STEMS = listed(
    "report notes invoice summary plan budget roadmap readme changelog minutes draft schedule inventory"
)
FILE_ENDINGS = ("txt", "md", "csv", "json", "log", "pdf")
FOLDERS = listed("projects documents data reports archive shared src docs config tests images backups")
BRANCHES = ["fix", "feature", "chore", "docs", "release", "hotfix"]
LANGUAGES = listed("en fr de es pt it ja ko sv pl")
CURRENCIES = listed("USD EUR GBP JPY CAD CHF SEK NOK")
COLORS = listed("red blue green black white silver grey orange yellow purple")
SENTENCES = (
    "The {topic} notes are ready for a second look.",
    "Please check the numbers for the {topic} before Friday.",
    "We moved the {topic} meeting to the afternoon.",
    "The {adjective} {thing} arrived and works as described.",
    "Can you send me the latest {topic} document?",
    "Thanks for the quick reply about the {topic}.",
    "Two people asked about the {adjective} {thing} today.",
    "The {topic} is on track, one question is still open.",
    "I have attached the {topic} figures for last month.",
    "Let us talk about the {topic} when you are back.",
)
REASONS = (
    "it arrived damaged",
    "it never arrived",
    "I ordered it by mistake",
    "the plan changed",
    "it is no longer needed",
    "the wrong item was sent",
    "there is a scheduling conflict",
    "the price was wrong",
)
# What a record's own state can be before anyone touches it; the first list that names the entity wins.
STATES = (
    (("order", "package", "shipment", "parcel", "delivery"), ("processing", "packed", "shipped", "delivered")),
    (("ticket", "issue", "case", "incident", "task", "bug"), ("open", "in_progress", "waiting", "triaged")),
    (("reservation", "booking", "appointment", "event", "flight", "meeting"), ("confirmed", "scheduled", "pending")),
    (("invoice", "payment", "transaction", "charge"), ("issued", "pending", "paid", "overdue")),
    (("account", "user", "customer", "subscription", "member", "card"), ("active", "active", "trial", "on_hold")),
)
ANY_STATE = ("active", "open", "pending", "ready")
