def complaint(words: str, lang: str) -> str:
    return words
