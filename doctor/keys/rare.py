"""Keys in rare places, whose patterns are only made where one of these words stands in a text."""

from __future__ import annotations

import re

from doctor.keys.names import BARE, CLOSE, MORE, STRONG, VALUE

_ATTRIBUTE = rf"{CLOSE}\s{{0,4}}[:=]\s{{0,4}}[\"'`]?[\w.-]{{0,60}}?{STRONG}{MORE}"
PAIR = re.compile(
    rf"\b(?:name|key|variable){_ATTRIBUTE}{CLOSE}[\s,;-]{{1,44}}{CLOSE}value{CLOSE}\s{{0,4}}[:=]\s{{0,4}}{VALUE}",
    re.IGNORECASE,
)
TURNED = re.compile(
    rf"\bvalue{CLOSE}\s{{0,4}}[:=]\s{{0,4}}(?:\"(?P<double>[^\"\n]{{1,300}})\"|'(?P<single>[^'\n]{{1,300}})'|(?P<bare>{BARE}{{1,300}}))"
    rf"[\s,;-]{{1,44}}{CLOSE}(?:name|key|variable){_ATTRIBUTE}",
    re.IGNORECASE,
)
_FAR = r"[^\n|;]{0,200}?(?<=\s)"
COMMANDS = re.compile(
    rf"\b(?:(?:(?:mysql|mariadb)[\w-]{{0,12}}(?:\.exe)?|7z[arz]?)\s{_FAR}-p(?=\S)|(?:un)?zip\s{_FAR}-P\s?|sshpass\s{_FAR}-p\s?|"
    rf"(?:docker|podman|nerdctl|helm|oras|skopeo|buildah|az)\s[^\n|;]{{0,60}}?\blogin\s{_FAR}-p[\s=]?|redis-cli\s{_FAR}-a\s|"
    rf"security\s{{1,4}}(?:add|set)-\w{{1,20}}-password\s{_FAR}-w\s|ConvertTo-SecureString\s{{1,4}}(?:-String\s{{1,4}})?(?=[\"']))"
    r"\s{0,3}[\"']?(?P<bare>[^\s\"';|&]{4,200})"
)
