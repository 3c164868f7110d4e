"""Symmetrisation as the textbook states it (Koehn, Statistical Machine Translation, 4.5.3), on grids."""

STEPS = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]  # (target, source)


def _aligned_source(alignment, f):
    return any(source == f for source, _ in alignment)


def _aligned_target(alignment, e):
    return any(target == e for _, target in alignment)


def grow_diag(forward, reverse, source_length, target_length):
    """GROW-DIAG: passes over the whole grid until a pass adds nothing."""
    both, either = set(forward) & set(reverse), set(forward) | set(reverse)
    alignment = set(both)
    added = True
    while added:
        added = False
        for e in range(target_length):
            for f in range(source_length):
                if (f, e) not in alignment:
                    continue
                for e_step, f_step in STEPS:
                    e_new, f_new = e + e_step, f + f_step
                    free = not _aligned_target(alignment, e_new) or not _aligned_source(alignment, f_new)
                    if free and (f_new, e_new) in either and (f_new, e_new) not in alignment:
                        alignment.add((f_new, e_new))
                        added = True
    return alignment


def final_and(alignment, direction, source_length, target_length):
    """FINAL-AND: links of one direction between two words without a link."""
    alignment = set(alignment)
    for e in range(target_length):
        for f in range(source_length):
            free = not _aligned_target(alignment, e) and not _aligned_source(alignment, f)
            if free and (f, e) in direction:
                alignment.add((f, e))
    return alignment


def grow_diag_final_and(forward, reverse, source_length, target_length):
    alignment = grow_diag(forward, reverse, source_length, target_length)
    alignment = final_and(alignment, set(forward), source_length, target_length)
    return final_and(alignment, set(reverse), source_length, target_length)
