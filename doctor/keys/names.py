"""Keys behind a name, an option or an attribute: how names end, what joins the two, what a value can be."""

from __future__ import annotations

import re

# A name says that a key follows. Only how it ends is looked for (OPENAI_API_KEY ends in API_KEY): what stands in front
# may be anything, and to search for it would take quadratic time.
STRONG = (
    r"(?:api[_-]?keys?|api[_-]?token|(?:auth|oauth|id)[_-]?token|access[_-]?(?:token|key)|refresh[_-]?token|"
    r"client[_-]?secret|secret[_-]?key|passw(?:or)?d|passphrase|bearer[_-]?token|hf[_-]?token|hub[_-]?token|"
    r"(?:private|master|salt|encryption|signing|virtual)[_-]?key|(?:openai|anthropic|azure|gemini|google|deepseek)[_-]key|"
    r"session[_-]?(?:key|token)|subscription[_-]?key|authorization|cookie)"
)
_WEAK = r"(?:token|secret|[_-](?:key|auth)|(?<![a-z])(?:pass|pwd|bearer|auth|credentials?))"
_SPOKEN = r"(?:(?:api|access|secret) key|密钥|秘钥|密码|口令|令牌)(?: provided)?"
# OPENAI_API_KEY_2, API_KEY_OPENAI; what names a file, a variable or a command holds no key.
MORE = r"(?:[_-]?\d{1,3}|_(?!(?:file|path|env|name|var|helper|header|id|url|count|length|type)\b)[a-z]\w{0,30})?"
_NAME = rf"(?:(?P<sure>{STRONG}{MORE})|(?P<weak>{_WEAK})|(?P<spoken>{_SPOKEN})|(?P<plain>\bkey))"

_QUOTE = r"(?:\\{0,3}[\"'`]|&quot;|&#3[49];|\\u002[27]|%2[27])"
CLOSE = rf"(?:{_QUOTE}|\\{{1,3}})?"
# A value may stand on the next line where it is marked: quoted, an item of a list, a block of YAML.
_GAP = r"(?:\\[nrt]){0,2}(?:\s{0,40}(?=[\"'`|>-])|\s{0,4})(?:[|>][+-]?\s{1,40})?(?:-\s{1,4})?"
# A tag of YAML, a call (SecretStr("…")), brackets, {"value": …}, and the letters in front of a Python string.
_LEAD = (
    rf"(?:[&!]{{1,2}}\w{{1,20}}\s{{1,2}})?(?:\w{{1,30}}\((?=[bfru]{{0,2}}[\"'`]))?[\[(<{{]{{0,2}}\s?(?:{_QUOTE}?value{_QUOTE}?\s?[:=]\s?)?"
    r"(?:\$(?=')|[bfru]{1,2}(?=[\"']))?"
)
_EQUALS = rf"{CLOSE}[\]}}]?\s{{0,4}}(?:=>|->|:=|\+=|\?=|={{1,3}}|[:：＝]|\\u003d|%3D|&#61;){_GAP}{_LEAD}"
# As sure as an equals sign: <add key="NAME" value="…">, Set-Item Env:NAME -Value …, the registry of Windows, plists.
_BESIDE = (
    rf"{CLOSE}(?:\s{{1,4}}(?:value|content)\s?=\s?|\s{{1,4}}-Value\s{{1,4}}|"
    r"\s{1,8}(?:/t\s{1,4})?REG_(?:EXPAND_)?SZ\s{1,8}(?:/d\s{1,4})?|"
    r"(?:</\w{1,20}|\s?/?)>\s{0,40}<\w{1,20}>\s{0,4})"
)
# Between a name and a key where nothing says that the one is the other's value: the key must look like one.
_NEAR = (
    r"(?:[\"'`],\s{0,40}(?:[\"']value[\"']:\s{0,4})?b?(?=[\"'`])|\s{1,4}(?:\|\||\?\?|or|→)\s{1,4}|\s{0,4}\|\s{0,4}|"
    r"[\])]?\s{1,4}(?:is |was )?[(\[]?|是\s?|[\"']?>\s{0,40}|-(?=[^\s{}]{8,200}\}))"
)
_SCHEME = r"(?:(?:bearer|basic|token|apikey)(?:\\?\s{1,4}|%20|\+))?"
BARE = r"[^\s\"'`,;<>(){}\[\]\\&]"
_WORDS = rf"{BARE}+(?:,{BARE}+)*"
# What a key without quotes can have in its middle, unless another setting, command or tag begins there.
_INNER = (
    r"(?!</|(?:[;&]|\\[nrt])[a-z-]{0,30}(?:[\s;&|=]|$))[\"'`;<>(){}\[\]\\&]{1,3}"
    r"(?![a-z_][\w.-]{0,40}[\"']?\s?(?::|=(?![\s=,]|$)))"
)
_SINGLE = r"(?:[^'\\\n]|\\.|''|'\"'\"'|'\\'')"
VALUE = (
    rf"(?:\"{_SCHEME}(?P<double>(?:[^\"\\\n]|\\.){{1,500}})\"|'{_SCHEME}(?P<single>{_SINGLE}{{1,500}})'|"
    rf"\\{{1,3}}[\"']{_SCHEME}(?P<escaped>[^\"'\\\n]{{1,500}})|"
    rf"{_QUOTE}?{_SCHEME}(?P<bare>{BARE}+(?:(?:,|{_INNER}){BARE}+)*))"
)
BARE_WORDS = re.compile(_WORDS)

NAMED = re.compile(rf"{_NAME}(?:(?P<firm>{_EQUALS}|{_BESIDE})|{_NEAR}){VALUE}", re.IGNORECASE)
# Blanks, the end of a line that goes on below, the next item of a list of words, of YAML or of a plist.
_AFTER_OPTION = (
    rf"(?:{_QUOTE}?\s{{0,4}}\n\s{{0,40}}-\s{{1,4}}|[\s=]+(?:[\\^`]\s{{1,40}})?|{_QUOTE}?[,;\])]?\s{{0,40}}(?={_QUOTE})|"
    r"</\w{1,20}>\s{0,40}<\w{1,20}>\s{0,4})[\[(<]?"
)
OPTION = re.compile(
    rf"(?<![\w.-])--?(?:(?P<sure>hft|(?:oauth2-)?bearer|[\w.-]{{0,80}}{STRONG})|(?P<weak>[\w.-]{{0,80}}(?:token|secret|key)))"
    rf"(?P<firm>{_AFTER_OPTION}){VALUE}(?P<more>(?:,[ \t]{{1,2}}(?!-)[^\s\"'`,;<>(){{}}\[\]\\&=]+(?=[\s,]|$))*)",
    re.IGNORECASE,
)
"""`more`: what a list of keys with blanks in it goes on with (`--api-key a, b`)."""
GLUED = re.compile(
    rf"(?<![\w.-])--?(?:hft|[\w.-]{{0,40}}?{STRONG})(?P<bare>(?![\s_=:-])[\"']?{BARE}{{6,}})", re.IGNORECASE
)
"""`--api-keyKEY`: only what looks like a key."""
