"""The speed a card and a model allow: pure arithmetic over bytes and bandwidths, and what a row of measured speeds shows.

    found = reads(model, options, build, devices)      # doctor.speed.reads: bytes one token reads, and where they lie
    decode(found, lanes, table, depth)                 # doctor.speed.expected: tokens a second, a range with its basis
    prefill(model, found, lanes, table)                # the same for reading a prompt

A range is where published measurements of such cards lie (fixtures/speed), never a promise. Nothing here opens a file.
"""
