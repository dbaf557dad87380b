"""Keys by their own shape, and in places that are no name: headers, addresses, options of other programs."""

from __future__ import annotations

import re

from doctor.keys.names import CLOSE

_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u00[0-9a-fA-F]{2}))"
_SHAPES = (
    r"sk-(?:ant-|proj-|or-|local-)?[A-Za-z0-9_\-]{6,}",
    r"hf_(?=[a-z]{0,40}[A-Z0-9])[A-Za-z0-9]{8,}",
    r"gh[pousr]_[A-Za-z0-9]{16,}",
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"xox[abprs]-[A-Za-z0-9-]{8,}",
    r"AKIA[0-9A-Z]{12,}",
    r"AIza[0-9A-Za-z_\-]{20,}",
    r"glpat-[A-Za-z0-9_\-]{12,}",
    r"nvapi-[A-Za-z0-9_\-]{12,}",
    r"(?:gsk|r8)_[A-Za-z0-9]{16,}",
    r"(?:tvly|xai|ms)-(?=[a-z]{0,40}[A-Z0-9])[A-Za-z0-9-]{20,}",
    r"eyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]+){0,2}",
    r"[0-9a-f]{32}\.[A-Za-z0-9]{16}\b",
    r"(?<=openai-insecure-api-key\.)[A-Za-z0-9_\-]{4,}",
)
SECRETS = re.compile(_START + "(?:" + "|".join(f"(?:{shape})" for shape in _SHAPES) + ")")
PEM = re.compile(r"(?P<head>-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)(?P<value>[^-]{1,16000})")

HEADER = re.compile(
    rf"(?:cookie{CLOSE}\s{{0,4}}[:=]\s{{0,4}}[\"'`]?(?=[\w-]{{1,100}}=)|"
    rf"authorization{CLOSE}\s{{0,4}}[:=]\s{{0,4}}[\"'`]?(?:digest|hawk|signature|aws4-[\w-]{{1,30}}|token(?= token=)) )"
    r"(?P<bare>[^\n'`]{4,1000})",
    re.IGNORECASE,
)
BEARER = re.compile(
    r"(?:\b|(?<=\\[nrt]))Bearer(?:\\?[\s:=+]{1,4}|%20|\s?[\"'],\s{0,4}[\"'])[\"'`]?(?P<bare>[^\s\"'`,;<>(){}\[\]\\]{4,})|"
    r"\bBasic\s{1,4}(?P<single>[A-Za-z0-9+/]{8,}={0,2})",
    re.IGNORECASE,
)
QUERY = re.compile(
    r"(?:[?&#](?:amp;)?[\w.-]{0,40}(?:key|token|sig|signature|secret|auth|code|passwd|password|credential)|;jsessionid)"
    r"(?:=|%3D)(?P<bare>[^\s&\"'#]+)",
    re.IGNORECASE,
)
USERINFO = re.compile(
    r"(?P<head>[a-z][a-z0-9+.-]{1,15}:(?:\\?/){2})"
    # A password may hold a slash where what stands in front of it cannot be a port.
    r"(?P<value>[^\s/\"'<>]{1,200}|[^\s/:@\"'<>]{0,100}:(?!\d{1,5}[/?#])[^\s@\"'<>]{1,200})@",
    re.IGNORECASE,
)
"""http://user:password@host"""
NO_SCHEME = re.compile(
    r"(?<![\w/@.:%-])[\w.%+-]{1,64}:(?P<bare>[^\s/@:\"'<>,]{4,200})@(?!sha256:)(?=[\w.-]{1,100}:\d{2,5}\b)"
)
"""user:password@host:port, as proxies are given."""
LIST = re.compile(
    rf"api[_-]?keys?{CLOSE}\s{{0,4}}[:=]\s{{0,4}}\[(?P<bare>[^\]]{{4,2000}})\]",
    re.IGNORECASE,
)
ECHO = re.compile(
    r"\b(?:echo|printf)\s{1,4}(?:-n\s{1,4}|[\"']?%s(?:\\n)?[\"']?\s{1,4})?[\"']?(?P<bare>[^\s\"'|;&)`]{8,200})"
)

_USER = r"[\"']?[^\s:/\"']{0,100}:(?P<bare>[^\s\"']{4,})"
_COOKIE = r"(?<!\S)(?:-b|--cookie)\s{1,4}[\"']?[\w-]{1,100}=\s{0,4}(?P<single>[^\s\"';]{4,})"
LOGIN_SURE = re.compile(rf"(?<!\S)(?:-u\s?|-U\s?|--user[\s=]{{1,4}}|--proxy-user[\s=]{{1,4}}){_USER}|{_COOKIE}")
"""The options of curl, wget and the like, where one of them stands in the text."""
PROXY_USER = re.compile(rf"(?<!\S)--proxy-user[\s=]{{1,4}}{_USER}")
LOGIN = re.compile(
    rf"(?<!\S)(?:-[uUa]|--user|--auth)[\s=]{{1,4}}(?:{_USER}|[\"']?(?P<single>[^\s:/\"']{{8,100}}):(?=[\s\"']|$))"
)
"""The same anywhere (`docker run -u 1000:1000`): only what looks like a key."""
GLUED_P = re.compile(r"(?<!\S)-[pP][\"']?(?P<bare>[A-Za-z0-9_+=~!@#^*-]{12,200})(?=[\s\"';|&]|$)")
"""`-pKEY` of a program that is not named: only what is as mixed as no word is."""
