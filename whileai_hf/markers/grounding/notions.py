"""Things that are said in one way and passed in another, and words that carry no fact."""

from __future__ import annotations


STOPWORDS = frozenset(
    "a an the of to in on at for from by with and or but not no is are was were be been it its this that these those "
    "i you he she "
    "we they me my your his her our their us them as if so do does did has have had will would can could should may "
    "might must "
    "please about into over under up down out off than then there here all any some more most other new per via re "
    "what which who "
    "when where how near around between under within best top good find search show list get info information details "
    "detail "
    "options option available availability latest current price prices cheap cheapest".split()
)
# Written either way.
_SAME = (
    ("street", "st", "str"), ("avenue", "ave", "av"), ("road", "rd"), ("boulevard", "blvd"), ("drive", "dr"),
    ("lane", "ln"), ("court", "ct"), ("square", "sq"), ("place", "pl"),
    ("apartment", "apt"), ("suite", "ste"), ("floor", "fl"), ("mount", "mt"), ("saint", "st"), ("doctor", "dr"),
    ("professor", "prof"), ("mister", "mr"), ("number", "no", "nr"),
    ("monday", "mon"), ("tuesday", "tue", "tues"), ("wednesday", "wed"), ("thursday", "thu", "thur", "thurs"),
    ("friday", "fri"), ("saturday", "sat"), ("sunday", "sun"),
    ("usd", "dollar", "dollars", "us dollar", "us dollars", "bucks"), ("eur", "euro", "euros"), ("gbp", "pound",
    "pounds", "pounds sterling", "quid"), ("jpy", "yen"), ("chf", "swiss franc", "swiss francs"),
    ("inr", "rupee", "rupees"), ("cny", "yuan", "rmb"), ("cad", "canadian dollars"), ("aud", "australian dollars"),
    ("brl", "reais", "real"), ("sek", "kronor"), ("nok", "kroner"), ("pln", "zloty"),
    ("en", "english"), ("de", "german"), ("fr", "french"), ("es", "spanish"), ("it", "italian"), ("pt",
    "portuguese"), ("ja", "japanese"), ("zh", "chinese"), ("nl", "dutch"), ("ru", "russian"), ("ko", "korean"),
    ("pl", "polish"),
    ("us", "usa", "united states", "america", "united states of america"), ("uk", "gb", "united kingdom",
    "great britain", "england"), ("uae", "united arab emirates"), ("germany", "de"), ("france", "fr"), ("spain", "es"),
    ("italy", "it"), ("japan", "jp"), ("canada", "ca"), ("mexico", "mx"), ("india", "in"), ("china", "cn"),
    ("australia", "au"), ("brazil", "br"), ("netherlands", "nl"), ("sweden", "se"), ("switzerland", "ch"),
    ("celsius", "c", "°c"), ("fahrenheit", "f", "°f"), ("kilometers", "km", "kilometres", "kilometer"), ("miles",
    "mi", "mile"), ("kilograms", "kg", "kilos", "kilo"), ("pounds", "lb", "lbs"), ("hours", "h", "hrs", "hour"),
    ("minutes", "min", "mins", "minute"),
    ("new york", "nyc", "ny", "new york city"), ("los angeles", "la"), ("san francisco", "sf"), ("washington", "dc",
    "washington dc"), ("male", "m", "man"), ("female", "f", "woman"),
    ("extra large", "xl", "x-large"), ("large", "l"), ("medium", "m"), ("small", "s"), ("one way", "one-way",
    "oneway", "one_way"), ("round trip", "round-trip", "roundtrip", "return", "round_trip"),
    ("email", "e-mail", "mail"), ("television", "tv"), ("refrigerator", "fridge"), ("telephone", "phone"), ("photo",
    "picture", "image"), ("annual", "yearly"), ("cancelled", "canceled", "cancel", "cancellation"),
    ("delivery", "deliver", "shipping", "ship"), ("payment", "pay", "paid"), ("damaged", "damage", "broken",
    "broke"), ("colour", "color"), ("grey", "gray"), ("centre", "center"),
    ("high", "urgent", "asap", "urgently"), ("morning", "am"), ("afternoon", "evening", "pm"), ("today", "now",
    "tonight"), ("flight", "fly", "flying"), ("hotel", "stay", "room"), ("breakfast", "breakfasts"),
)  # fmt: skip
_STATES = {
    "al": "alabama", "ak": "alaska", "az": "arizona", "ar": "arkansas", "ca": "california", "co": "colorado",
    "ct": "connecticut", "de": "delaware", "fl": "florida", "ga": "georgia", "hi": "hawaii", "id": "idaho",
    "il": "illinois", "in": "indiana", "ia": "iowa", "ks": "kansas", "ky": "kentucky", "la": "louisiana",
    "me": "maine", "md": "maryland", "ma": "massachusetts", "mi": "michigan", "mn": "minnesota", "ms": "mississippi",
    "mo": "missouri", "mt": "montana", "ne": "nebraska", "nv": "nevada", "nh": "new hampshire", "nj": "new jersey",
    "nm": "new mexico", "nc": "north carolina", "nd": "north dakota", "oh": "ohio", "ok": "oklahoma",
    "or": "oregon", "pa": "pennsylvania", "ri": "rhode island", "sc": "south carolina", "sd": "south dakota",
    "tn": "tennessee", "tx": "texas", "ut": "utah", "vt": "vermont", "va": "virginia", "wa": "washington",
    "wv": "west virginia", "wi": "wisconsin", "wy": "wyoming",
}  # fmt: skip
# Airports by city: the code is how a flight tool wants to hear the city that was named.
_AIRPORTS = {
    "jfk": "new york", "lga": "new york", "ewr": "newark", "sfo": "san francisco", "lax": "los angeles",
    "ord": "chicago", "mdw": "chicago", "atl": "atlanta", "dfw": "dallas", "den": "denver", "sea": "seattle",
    "mia": "miami", "bos": "boston", "phx": "phoenix", "iah": "houston", "hou": "houston", "mco": "orlando",
    "las": "las vegas", "clt": "charlotte", "msp": "minneapolis", "dtw": "detroit", "phl": "philadelphia",
    "lhr": "london", "lgw": "london", "cdg": "paris", "ory": "paris", "fra": "frankfurt", "ams": "amsterdam",
    "mad": "madrid", "bcn": "barcelona", "fco": "rome", "muc": "munich", "zrh": "zurich", "vie": "vienna",
    "dub": "dublin", "cph": "copenhagen", "osl": "oslo", "arn": "stockholm", "hel": "helsinki", "lis": "lisbon",
    "hnd": "tokyo", "nrt": "tokyo", "icn": "seoul", "pek": "beijing", "pvg": "shanghai", "hkg": "hong kong",
    "sin": "singapore", "syd": "sydney", "mel": "melbourne", "dxb": "dubai", "del": "delhi", "bom": "mumbai",
    "yyz": "toronto", "yvr": "vancouver", "gru": "sao paulo", "mex": "mexico city", "ber": "berlin", "ist": "istanbul",
}  # fmt: skip
SYMBOLS = {"usd": "$", "eur": "€", "gbp": "£", "jpy": "¥", "inr": "₹", "percent": "%", "percentage": "%"}


def _synonyms() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in _SAME:
        for word in group:
            found.setdefault(word, set()).update(group)
    for table in (_STATES, _AIRPORTS):
        for code, name in table.items():
            found.setdefault(code, set()).add(name)
            found.setdefault(name, set()).add(code)
    return {word: frozenset(others - {word}) for word, others in found.items()}


SYNONYMS = _synonyms()
# Arguments that steer a tool rather than state a fact.
CONTROLS = frozenset(
    "limit page page_size pagesize per_page perpage offset cursor top_k topk k max_results maxresults num_results "
    "n_results maxitems max_items size_limit "
    "timeout timeout_s timeout_ms wait sleep retries max_retries view_range start_line end_line line_number lines "
    "context depth max_depth max_tokens temperature "
    "sort sort_by sortby order_by orderby sort_order direction format output_format output encoding mode verbose "
    "locale units unit_system fields include expand "
    "recursive case_sensitive batch_size chunk_size window seed version api_version request_id idempotency_key "
    "correlation_id session_id trace_id explanation "
    "is_background require_user_approval safe_to_auto_run thought thoughts thinking reasoning plan rationale".split()
)
# Arguments in which the agent speaks.
FREE = frozenset(
    "reason note notes message messages comment comments text body subject title summary description content details "
    "explanation feedback instructions instruction "
    "remark remarks justification memo caption reply response answer question greeting headline issue problem "
    "complaint purpose expression prompt task goal topic "
    "observation conclusion resolution cancellation_reason refund_reason special_requests special_instructions "
    "internal_note additional_info agent_notes "
    "issue_description short_description long_description change_reason rationale label event name_of_event action "
    "request".split()
)
# Arguments that hold a program or the content of a file.
PROGRAMS = frozenset(
    "command cmd script code source program sql query_string patch diff content contents file_text old_str new_str "
    "old_string new_string old_text new_text "
    "old new insert_text code_edit new_source cell malformed regex pattern edits jq html css json yaml".split()
)
