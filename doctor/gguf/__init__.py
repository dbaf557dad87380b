"""Reading model files: the GGUF header, the parts of a split model, and what lies there when it is no GGUF."""
