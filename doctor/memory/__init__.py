"""Memory to the byte: a model's header, its launch options and a build of llama.cpp give the bytes of every device.

Pure arithmetic: nothing here opens a file, and nothing outside this package needs to know how it is computed. The law
is llama.cpp's own accounting, read from b11434. How it is used:

    model = read_model(header, tensors)          # doctor.memory.model; a Refusal when the header describes no model
    options = read_options(launch.options or ()) # doctor.memory.options; what the command line says, None where silent
    found = budget(model, options, build, devices, draft=None, mmproj=None)   # doctor.memory.budget

`build` is the number of the user's llama.cpp (None: the newest known). `devices` are the cards in llama.cpp's order
(`Device("CUDA0", "cuda")`); without any, everything is on the CPU. Nothing is shrunk to fit: `budget` answers what the
command as given needs. `found` is a `Budget`, or a `Refusal` whose `message` says in one line why llama.cpp would not
start. `dataclasses.replace(options, ctx=65536)` asks the next question; a call costs some milliseconds.

Units are bytes and tokens everywhere. This interface is stable: names and meanings of `Model`, `Options`, `Device`,
`Row`, `Budget`, `Refusal` and the three functions above.
"""
