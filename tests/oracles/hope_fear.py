"""Response-based learning line by line, with dictionaries: RAMPION, EXEC and REBOL (ACL 2014, algorithm 1)."""

from itersel.metrics.sentence import sentence_values


def learn(
    lists,
    start,
    eta,
    *,
    cost,
    feedback,
    scale,
    judge,
    references=None,
    epochs=1,
    limit=None,
    keep="grow",
    failures=False,
    light=False,
    around=False,
):
    """`lists` are (id, texts, feature dicts, references). Returns weights, won references, and what was counted.

    `texts` may be a function, which gives texts and feature dicts for the weights of the moment. `light` asks about the
    best alone; `around` makes the best one of RAMPION's pair.
    """
    w, won = dict(start), {} if references is None else references
    counts = {"successes": 0, "skipped": 0, "updates": 0}
    for _ in range(epochs):
        for id, texts, features, given in lists:
            if callable(texts):
                texts, features = texts(w)
            s = [sum(w.get(name, 0.0) * value for name, value in x.items()) for x in features]
            best = s.index(max(s))
            asked = set()

            def e(place, id=id, texts=texts, asked=asked):
                """None where the limit forbids to ask."""
                if place not in asked and limit is not None and len(asked) >= limit:
                    return None
                asked.add(place)
                return judge(id, texts[place])

            success = feedback and e(best)
            if success:
                counts["successes"] += 1
                if cost and keep == "last":
                    won[id] = [texts[best]]
                elif cost and keep == "grow" and texts[best] not in won.get(id, []):
                    won.setdefault(id, []).append(texts[best])
            everything = [text.split(" ") for text in [*given, *won.get(id, [])]]
            if success and cost and keep == "prediction":
                everything = [texts[best].split(" ")]
            metric = sentence_values("stupid_bleu", [text.split(" ") for text in texts], everything)
            c = [1 - float(value) if cost else 0.0 for value in metric]
            if scale and cost:
                low, high = min(s), max(s)
                s = [scale * (value - low) / (high - low) if high > low else 0.0 for value in s]

            def top(sign, wanted, s=s, c=c, e=e):
                for place in sorted(range(len(s)), key=lambda k: (-(s[k] + sign * c[k]), k)):
                    if not feedback or light:
                        return place
                    answer = e(place)
                    if answer is None:
                        return None
                    if answer is wanted:
                        return place
                return None

            if success and failures:
                better = worse = None
            elif around:
                better, worse = (best, top(+1, False)) if texts[best] in given else (top(-1, True), best)
            elif not feedback:
                better, worse = top(-1, True), top(+1, False)
            elif success:
                better, worse = best, top(+1, False)
            else:
                better, worse = top(-1, True), best
            if better is None or worse is None or better == worse:
                counts["skipped"] += 1
                continue
            counts["updates"] += 1
            for sign, place in ((+1, better), (-1, worse)):
                for name, value in features[place].items():
                    w[name] = w.get(name, 0.0) + sign * eta * value
    return w, won, counts
