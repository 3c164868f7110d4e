"""Bad inputs for every verb and every format: a message that names the mistake, the exit code, and nothing lost.

Every command of `bad_inputs.COMMANDS` works on good inputs. Each of its inputs is damaged in several ways (DAMAGES),
and then replaced by text with a mistake (MISTAKES); other mistakes are in the arguments (ARGUMENTS). Whatever was there
before, outputs of earlier commands included, must be there afterwards.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from bad_inputs import COMMANDS, DAMAGES, inputs, make_world, snapshot

from itersel.cli import VERBS, main

RESUME = "train train.yaml --output run"

# Command, file, its content instead, and the message.
MISTAKES = [
    (
        "translate",
        "grammar",
        "[X] ||| ein\n",
        "grammar:1: expected '[LHS] ||| source ||| target ||| name=value … ||| i-j …', found 2 of",
    ),
    (
        "translate",
        "grammar",
        "X ||| ein ||| a ||| f=1\n",
        "grammar:1: expected a left-hand side such as [X], found 'X'",
    ),
    (
        "translate",
        "grammar",
        "[X] ||| ein [X,1] ||| a ||| f=1\n",
        "grammar:1: the source side's non-terminals must each occur once on the target side 'a'",
    ),
    (
        "translate",
        "grammar",
        "[X] ||| ein [X,1] ||| a [X,2] ||| f=1\n",
        "grammar:1: the target side's '[X,2]' has no partner with that index on the source side",
    ),
    (
        "translate",
        "grammar",
        "[X] ||| ein ||| a ||| f=one\n",
        "grammar:1: expected a feature such as name=0.5 or a number, found 'f=one'",
    ),
    (
        "translate",
        "grammar",
        "[X] ||| ein ||| a ||| f=nan\n",
        "grammar:1: expected a feature such as name=0.5 or a number, found 'f=nan'",
    ),
    (
        "translate",
        "grammar",
        "[X] ||| ein ||| a ||| f=1e999\n",
        "grammar:1: expected a feature such as name=0.5 or a number, found 'f=1e999'",
    ),
    (
        "translate",
        "grammar",
        "[X] ||| ein ||| a ||| f=1 ||| 0-5\n",
        "grammar:1: the alignment link '0-5' points outside the rule",
    ),
    (
        "translate",
        "grammar",
        "[X] ||| ein ||| a ||| f=1 ||| 0:0\n",
        "grammar:1: expected alignment links such as 0-1, found '0:0'",
    ),
    ("translate", "grammar", "[X] |||  ||| a ||| f=1\n", "grammar:1: the source side is empty"),
    (
        "inspect grammar",
        "grammar",
        "[X] ||| ein ||| a ||| f=1\nno rule\n",
        "grammar:2: expected '[LHS] ||| source ||| target ||| name=value … ||| i-j …', found 1 of",
    ),
    (
        "shard grammars",
        "grammars/grammar.3.gz",
        "[X] ||| a ||| b ||| f=x\n",
        "grammars/grammar.3.gz:1: expected a feature such as name=0.5 or a number, found 'f=x'",
    ),
    (
        "translate sgml",
        "grammars/grammar.3.gz",
        "no rule at all\n",
        "grammars/grammar.3.gz:1: expected '[LHS] ||| source ||| target ||| name=value … ||| i-j ",
    ),
    ("translate", "weights", "f\n", "weights:1: expected 'name value', found 'f'"),
    ("translate", "weights", "f one\n", "weights:1: expected a finite number after the name, found 'one'"),
    ("translate", "weights", "f 1 2\n", "weights:1: expected 'name value', found 'f 1 2'"),
    ("translate", "weights", "f nan\n", "weights:1: expected a finite number after the name, found 'nan'"),
    ("translate", "weights", "f inf\n", "weights:1: expected a finite number after the name, found 'inf'"),
    ("translate", "weights", "f 1\nf 2\n", "weights:2: the weight of 'f' is given twice"),
    ("rerank apply", "weights", "f 1\ng\n", "weights:2: expected 'name value', found 'g'"),
    ("train", "weights", "f 1e999\n", "weights:1: expected a finite number after the name, found '1e999'"),
    ("inspect weights", "weights", "f 1\nf\n", "weights:2: expected 'name value', found 'f'"),
    ("experiment", "weights", "f x\n", "weights:1: expected a finite number after the name, found 'x'"),
    (
        "translate",
        "lm.arpa",
        "\\data\\\nngram 1=2\n",
        "lm.arpa: not a readable ARPA or KenLM binary file of order 2 to 6: End of file",
    ),
    (
        "translate",
        "lm.arpa",
        "\\data\\\nngram 1=9\nngram 2=1\n\n\\1-grams:\n-1\t<s>\t0\n\n\\end\\\n",
        'lm.arpa: not a readable ARPA or KenLM binary file of order 2 to 6: Could not parse "\\end',
    ),
    (
        "train",
        "lm.arpa",
        "\\data\\\nngram 1=x\n",
        "lm.arpa: not a readable ARPA or KenLM binary file of order 2 to 6: Bad count x",
    ),
    (
        "inspect arpa",
        "lm.arpa",
        "\\data\\\nngram 1=1\nngram 2=1\n",
        "lm.arpa: not a readable ARPA or KenLM binary file of order 2 to 6: End of file",
    ),
    (
        "translate sgml",
        "lm.bin",
        "mmap lm http://kheafield.com/code format version 5\n\0",
        " KenLM binary file of order 2 to 6: This looks like a binary file but got sent to the AR",
    ),
    (
        "train options",
        "lm.bin",
        "mmap lm http://kheafield.com/code format version 4\n\0" + "x" * 200,
        "lm.bin: not a readable ARPA or KenLM binary file of order 2 to 6: Binary file has versio",
    ),
    ("prepare", "train.en", "a house\n", "train.en:2: ends after 1 lines, but train.de continues"),
    (
        "prepare",
        "train.de",
        "ein ||| haus\nein ||| haus\nein ||| haus\nein ||| haus\nein ||| haus\nein ||| haus\n",
        "train.de:1: a token contains |||, which separates the fields of grammar files",
    ),
    ("prepare joint", "joint", "ein haus\n", "joint:1: expected one ||| in the line, found 0"),
    ("prepare joint", "joint", "ein ||| haus ||| a house\n", "joint:1: expected one ||| in the line, found 2"),
    ("lm", "train.en", "a <s> house\n", "train.en:1: the word '<s>' is reserved"),
    ("lm", "train.en", "a <unk> house\n", "train.en:1: the word '<unk>' is reserved"),
    ("lm", "train.en", "\n\n", "train.en: the text has no words"),
    (
        "extract",
        "train.de",
        "a ||| b\n",
        "train.de:1: '|||' inside a word; grammar files use it between fields, so escape it first",
    ),
    (
        "shard",
        "train.de",
        "a ||| b\na ||| b\na ||| b\na ||| b\na ||| b\na ||| b\n",
        "train.de:1: ||| separates the fields of translations and cannot be a word",
    ),
    ("build", "train.de", "ein haus\n", "train.de:2: ends after 1 lines, but train.en continues"),
    (
        "build",
        "train.en",
        "a house\na house\na house\na house\na house\na house\na house\n",
        "train.de:7: ends after 6 lines, but train.en continues",
    ),
    ("split apply", "splitter", "ein x\n", "splitter:1: not a compound splitter"),
    ("split apply", "splitter", "{}\n", "splitter:1: not a compound splitter"),
    ("align", "train.align", "0-0\n", "train.align:2: the alignment ends after 1 lines, but the text does not"),
    (
        "align",
        "train.align",
        "0-0 1-9\n\n\n\n\n\n",
        "train.align:1: link 1-9 points beyond the target sentence, which has 2 tokens",
    ),
    ("align", "train.align", "0:0\n\n\n\n\n\n", "train.align:1: not a link: '0:0'"),
    ("align", "train.align", "0-x\n\n\n\n\n\n", "train.align:1: not a link: '0-x'"),
    ("align", "train.align", "-1-0\n\n\n\n\n\n", "train.align:1: not a link: '-1-0'"),
    ("symmetrise", "train.align2", "0-0\n", "train.align2:2: the alignment ends after 1 lines, but the text does not"),
    (
        "symmetrise",
        "train.align",
        "9-0\n\n\n\n\n\n",
        "train.align:1: link 9-0 points beyond the source sentence, which has 2 tokens",
    ),
    (
        "index",
        "train.align",
        "0-7\n\n\n\n\n\n",
        "train.align:1: link 0-7 is out of range: the sentences have 2 and 2 words",
    ),
    (
        "index",
        "train.align",
        "\n",
        "train.align:1: ends after 1 lines, but train.de continues; source, target and alignment ne",
    ),
    (
        "index",
        "train.en",
        "a house\n",
        "train.en:1: ends after 1 lines, but train.de continues; source, target and alignment need ",
    ),
    (
        "build",
        "train.align",
        "0-9\n\n\n\n\n\n",
        "train.align:1: link 0-9 points beyond the target sentence, which has 2 tokens",
    ),
    ("build", "train.align", "\n", "train.align:2: the alignment has 1 lines, but train.de has 6"),
    ("shard", "train.en", "a house\n", "train.en:2: ends after 1 lines, but train.de has 6"),
    (
        "shard",
        "train.en",
        "a house\na house\na house\na house\na house\na house\na house\na house\na house\n",
        "train.en:7: continues, but train.de ends after 6 lines",
    ),
    ("shard", "train.domain", "a\n", "train.domain:2: ends after 1 lines, but train.de has 6"),
    ("shard", "train.domain", "a\n\nb\na\nb\na\n", "train.domain:2: the line is empty"),
    ("build", "train.domain", "a\n", "train.domain:2: has 1 labels, but the text has 6 lines"),
    ("evaluate", "train.en", "a house\n", "train.de:2: continues, but train.en ends after 1 lines"),
    (
        "evaluate",
        "train.de",
        "a house\na house\na house\na house\na house\na house\na house\na house\na house\n",
        "train.de:7: continues, but train.en ends after 6 lines",
    ),
    ("oracle", "train.en", "a house\n", "lists:3: a list too many: sentence 1, but there are references for 1"),
    ("rerank options", "train.en", "a house\n", "lists:3: list 1 has no reference: train.en has 1 lines"),
    ("rerank apply", "lists", "0 ||| a\n", "lists:1: 2 fields where at least 3 are needed"),
    ("rerank apply", "lists", "no fields\n", "lists:1: 1 fields where at least 3 are needed"),
    ("rerank apply", "lists", "||| a ||| f=1 ||| 1\n", "lists:1: the line has no id"),
    ("rerank apply", "lists", "0 ||| a ||| f=x ||| 1\n", "lists:1: feature 'f' is 'x'"),
    ("rerank apply", "lists", "0 ||| a ||| f=nan ||| 1\n", "lists:1: feature 'f' is 'nan'"),
    ("rerank apply", "lists", "0 ||| a ||| f=1 f=2 ||| 1\n", "lists:1: feature 'f' occurs twice"),
    ("rerank apply", "lists", "0 ||| a ||| f=1 ||| one\n", "lists:1: score is 'one'"),
    (
        "rerank apply",
        "lists",
        "0 ||| a ||| f=1 ||| 1\n1 ||| a ||| f=1 ||| 1\n0 ||| b ||| f=1 ||| 1\n",
        "lists:3: list 0 comes after list 1",
    ),
    ("rerank options", "lists", "0 ||| a ||| f= ||| 1\n", "lists:1: feature 'f' has no value"),
    ("rerank options", "lists", "9 ||| a ||| f=1 ||| 1\n", "lists:1: list 9 has no reference: train.en has 6 lines"),
    ("rerank options", "lists", "x ||| a ||| f=1 ||| 1\n", "lists:1: the id 'x' is not a line number of the "),
    ("oracle", "lists", "0 ||| a\n", "lists:1: 2 fields where at least 3 are needed"),
    (
        "oracle",
        "lists",
        "77 ||| a ||| f=1 ||| 1\n",
        "lists:1: a list too many: sentence 77, but there are references for 6",
    ),
    (
        "rerank json",
        "lists.jsonl",
        "{\n",
        "lists.jsonl:1: not JSON: Expecting property name enclosed in double quotes: line 1 colum",
    ),
    ("rerank json", "lists.jsonl", '{"id": 0}\n', "lists.jsonl:1: no 'text'"),
    ("rerank json", "lists.jsonl", '{"id": 0, "text": 3, "features": {}}\n', "lists.jsonl:1: the text is 3"),
    ("rerank json", "lists.jsonl", '{"id": [], "text": "a", "features": {}}\n', "lists.jsonl:1: the id is []"),
    ("rerank json", "lists.jsonl", '{"id": 0, "text": "a", "features": {"f": "x"}}\n', "lists.jsonl:1: f is 'x'"),
    ("rerank json", "lists.jsonl", '{"id": 0, "text": "a", "features": {"f": true}}\n', "lists.jsonl:1: f is True"),
    (
        "rerank json",
        "lists.jsonl",
        '{"id": 0, "text": "a", "features": {"f g": 1}}\n',
        "lists.jsonl:1: 'f g' cannot be a feature's name",
    ),
    ("rerank json", "lists.jsonl", '{"id": 0, "text": "a", "features": {"f": 1e999}}\n', "lists.jsonl:1: f is inf"),
    (
        "rerank json",
        "lists.jsonl",
        '{"id": 0, "text": "\\ud800", "features": {"f": 1}}\n',
        "lists.jsonl:1: not JSON: \\ud800 is half a surrogate pair, not a character",
    ),
    ("rerank json", "lists.jsonl", '{"a":' * 5000 + "\n", "lists.jsonl:1: not JSON: too many levels of brackets"),
    (
        "rerank json",
        "lists.jsonl",
        '{"id": 0, "text": "a", "features": {"f": 1}}\n[]\n',
        "lists.jsonl:2: not a JSON object",
    ),
    (
        "translate sgml",
        "input.sgm",
        "<seg ein haus </seg>\n",
        'input.sgm:1: malformed <seg> tag: expected <seg grammar="FILE" id="ID"> words </seg> on ',
    ),
    (
        "translate sgml",
        "input.sgm",
        '<seg grammar="grammars/none.gz" id="0"> ein </seg>\n',
        "grammars/none.gz: cannot read: No such file or directory [grammar of sentence 0 (input.s",
    ),
    ("translate sgml", "input.sgm", '<seg id="0"> ein </seg>\n', "input.sgm:1: this line names no grammar"),
    (
        "translate sgml",
        "input.sgm",
        '<seg grammar="../../../../etc/passwd" id="0"> ein </seg>\n',
        "input.sgm:1: the grammar ../../../../etc/passwd is outside the input's folder",
    ),
    (
        "translate sgml",
        "input.sgm",
        '<seg grammar="grammars/grammar.0.gz" id="0"> ein haus\n',
        'input.sgm:1: </seg> is missing; expected <seg grammar="FILE" id="ID"> words </seg> on on',
    ),
    (
        "shard sgml",
        "input.sgm",
        '<seg grammar="grammars/none.gz" id="0"> ein </seg>\n',
        "train.en:2: continues, but input.sgm ends after 1 lines",
    ),
    (
        "shard sgml",
        "input.sgm",
        "ein haus\nein haus\nein haus\nein haus\nein haus\nein haus\n",
        "input.sgm:1: this line names no grammar",
    ),
    ("build", "build.yaml", "work: [\n", "build.yaml:2: not YAML: expected the node content, but found '<stream end>'"),
    ("build", "build.yaml", "work: w\n", "build.yaml: the key 'train' is missing"),
    ("build", "build.yaml", "wrok: w\n", "build.yaml:1: unknown key 'wrok'; did you mean 'work'?"),
    ("build", "build.yaml", "- a\n- b\n", "build.yaml:1: not a list of keys"),
    ("build", "build.yaml", "a: &a [*a]\n", "build.yaml: the value in line 1 is part of itself"),
    (
        "build",
        "build.yaml",
        "work: !!python/object/apply:os.system [echo]\n",
        "build.yaml:1: work is ['echo']; give a path",
    ),
    ("train", "train.yaml", "shards: [nothing/*.itsh]\n", "nothing/*.itsh: shards: no such file"),
    (
        "train",
        "train.yaml",
        "shards: [train.de]\n",
        "train.de: not a shard file (its first bytes are wrong); make it with 'itersel shard'",
    ),
    ("train", "train.yaml", "shards: [shards/*.itsh]\nalgorithm: magic\n", "train.yaml:2: unknown algorithm 'magic'"),
    (
        "train",
        "train.yaml",
        "shards: [shards/*.itsh]\nalgorithm: no.module:Thing\n",
        "train.yaml:2: cannot find no.module:Thing: No module named 'no'",
    ),
    (
        "train",
        "train.yaml",
        "shards: [shards/*.itsh]\nepochs: 0\n",
        "train.yaml:2: epochs is 0; give a whole number from 1 to 999",
    ),
    (
        "train",
        "train.yaml",
        "shards: [shards/*.itsh]\nepochs: 1\nepochs: 2\n",
        "train.yaml:3: the key 'epochs' is given twice; the first time in line 2",
    ),
    (
        "train",
        "train.yaml",
        "shards: [shards/*.itsh]\nepoch: {k: -1}\n",
        "train.yaml:2: epoch.k is -1; give a whole number from 2 to 1,000,000",
    ),
    (
        "train",
        "train.yaml",
        "shards: [shards/*.itsh]\nrun: {jobs: 0}\n",
        "train.yaml:2: run.jobs is 0; give a whole number from 1 to 100,000",
    ),
    (
        "train",
        "train.yaml",
        "shards: [shards/*.itsh]\nrun: {runner: abacus}\n",
        "train.yaml:2: run.runner is 'abacus'; choose one of inline, local, mrjob-inline, mrjob-l",
    ),
    (
        "train",
        "train.yaml",
        "shards: [shards/*.itsh]\nfold_models: [lm.arpa]\n",
        "train.yaml:2: fold_models is given without language_model",
    ),
    (
        "rerank train",
        "rerank.yaml",
        "lists: [lists]\n",
        "no references and no objective: one of them must say which hypotheses are good",
    ),
    (
        "rerank train",
        "rerank.yaml",
        "lists: [none]\nreferences: [train.en]\n",
        "none: cannot read: No such file or directory",
    ),
    (
        "rerank train",
        "rerank.yaml",
        "lists: 3\n",
        "no references and no objective: one of them must say which hypotheses are good",
    ),
    (
        "rerank train",
        "rerank.yaml",
        "lists: [lists]\nreferences: [train.en]\nfields: {score: 1}\n",
        "field 1 is the list's id or the text",
    ),
    ("experiment", "experiment.yaml", "build: none.yaml\ngrid: []\n", "experiment.yaml: the key 'devtest' is missing"),
    (
        "experiment",
        "experiment.yaml",
        "build: build.yaml\ndevtest: dev\ntests: [dev]\ngrid: []\n",
        "experiment.yaml:4: grid is []; give at least one",
    ),
    (
        "experiment",
        "experiment.yaml",
        "build: build.yaml\ndevtest: none\ntests: [dev]\ngrid: [{algorithm: sgd, tuning: dev}]\n",
        "experiment.yaml:2: devtest is 'none', but the build has no such set",
    ),
    (
        "experiment",
        "experiment.yaml",
        "build: build.yaml\ndevtest: dev\ntests: [dev]\ngrid: [{algorithm: magic, tuning: dev}]\n",
        "experiment.yaml:4: unknown algorithm 'magic'",
    ),
    ("report", "run/run.json", "{}", "run/run.json: written by another version of itersel"),
    ("report", "run/run.json", '{"format": 1, "identity": {}}', "run/run.json: damaged: there is no configuration"),
    ("report", "run/manifest.json", "{}", "run/manifest.json: written by another version of itersel"),
    ("report", "run/manifest.json", '{"format": 99}', "run/manifest.json: written by another version of itersel"),
    ("report", "run/statistics.jsonl", '{"epoch": 1}\n', "run/statistics.jsonl:1: damaged: not a line of statistics"),
    ("report", "run/statistics.jsonl", "[]\n", "run/statistics.jsonl:1: damaged: not a line of statistics"),
    ("report", "evaluation.json", "[]", "evaluation.json: damaged: not a JSON object"),
    ("report", "evaluation.json", '{"systems": 3}', "evaluation.json: not an evaluation"),
    ("resume", "run/manifest.json", "{}", "run/manifest.json: written by another version of itersel"),
    (
        "resume",
        "run/manifest.json",
        '{"format": 1, "epochs": [{"files": {"weights.vec": "0"}}], "chosen": null}',
        "run/weights.vec: the file has changed since this run wrote it: the checksum is wrong",
    ),
    (
        "resume",
        "run/run.json",
        '{"identity": {"other": 1}}',
        "run: this directory belongs to a run with another configuration or other data",
    ),
    ("resume", "run/run.json", "[]", "run/run.json: damaged: not a JSON object"),
    (
        "resume",
        "run/epoch-001/weights.vec",
        "x",
        "run/epoch-001/weights.vec: the file has changed since this run wrote it: the checksum is wrong",
    ),
    ("resume", "run/statistics.jsonl", "{\n", "run/statistics.jsonl: damaged: not lines of JSON with an epoch"),
    ("align", "train.de", "__NULL__ haus\n" + "x x x x\n" * 5, "train.de:1: the text contains __NULL__"),
]

# Arguments of `itersel`, and the message.
ARGUMENTS = [
    ("prepare --source train.de --output-source out.1 --output-target out.2", "the outputs do not fit the input"),
    (
        "prepare --source train.de --target train.en --output-source out.1 --output-target out.1",
        "out.1: two outputs have this name",
    ),
    (
        "prepare --source train.de --target train.en --output-source train.de --output-target out.2",
        "train.de: the output would replace an input",
    ),
    ("prepare --source train.de --tokenize-source xx --output-source out.1", "'xx' is not the code of a language"),
    (
        "prepare --source train.de --tokenize-source th --output-source out.1",
        "Thai (th) has no blanks between words, and there are no rules for it here",
    ),
    ("prepare --source train.de --detokenize german --output-source out.1", "'german' is not the code of a language"),
    (
        "prepare --joint joint --detokenize en --output-source out.1 --output-target out.2",
        "--detokenize is for one tokenised side",
    ),
    (
        "prepare --source train.de --target train.en --output-source grammars --output-target out.2",
        "grammars: cannot write: not a regular file",
    ),
    (
        "prepare --source train.de --target train.en --output-source out.1/below --output-target out.2",
        "out.1/below: cannot write: a file is where a folder should be",
    ),
    (
        "prepare --source train.de --target train.en --max-ratio -1 --output-source out.1 --output-target out.2",
        "the maximum length ratio is -1.0",
    ),
    (
        "prepare --source train.de --target train.en --max-length -1 --output-source out.1 --output-target out.2",
        "the maximum length is -1",
    ),
    (
        "prepare --source train.de --target train.en --max-ratio nan --output-source out.1 --output-target out.2",
        "the maximum length ratio is nan",
    ),
    ("split train --text train.de --min-length 0 --output out.1", "min_length is 0; give a whole number of at least 1"),
    ("split train --text train.de --min-count 0 --output out.1", "min_count is 0; give a whole number of at least 1"),
    ("split apply train.de --model weights --output out.1", "weights:1: not a compound splitter"),
    ("split apply train.de --model splitter --output train.de", "train.de: the output would replace an input"),
    ("split train --text train.de --output train.de", "train.de: the output would replace an input"),
    ("convert weights --output out.1", "Give --from or --to, with moses or joshua"),
    ("convert weights --from moses --output out.1", "weights: there is no [weight] section"),
    ("convert grammar --from moses --output out.1", "grammar:1: "),
    ("convert weights --to moses --output out.1", "f has no counterpart in Moses"),
    ("align --source train.de --target train.en", "there is nothing to write"),
    ("align --source train.de --output out.1", "wrong combination of --source, --target and --joint"),
    (
        "align --source train.de --target train.en --forward train.align --output out.1",
        "wrong combination of --forward, --reverse and --given",
    ),
    ("align --source train.de --target train.en --samplers 0 --output out.1", "0 samplers"),
    ("align --source train.de --target train.en --effort 0 --output out.1", "the effort is 0.0"),
    ("align --source train.de --target train.en --null-prior 1 --output out.1", "the null prior is 1.0"),
    ("align --source - --target train.en --output out.1", "standard input cannot be read twice"),
    (
        "align --source train.de --target train.en --given train.align --output train.align",
        "train.align: the output would replace an input",
    ),
    ("lm --text train.en --order 1 --output out.1", "order 1 is out of range"),
    ("lm --text train.en --order 7 --output out.1", "order 7 is out of range"),
    ("lm --text train.en --prune 2 1 --output out.1", "pruning thresholds 2 1 decrease or are negative"),
    (
        "lm --text train.en --order 2 --prune 0 0 0 --output out.1",
        "3 pruning thresholds (0 0 0) for a model of order 2",
    ),
    ("lm --text train.en --prune -1 --output out.1", "pruning thresholds -1 decrease or are negative"),
    ("lm --text train.en --vocabulary 0 --output out.1", "a vocabulary of 0 words"),
    ("lm --text train.en --folds 1 --output new.{fold}", "fold 0 of 1"),
    (
        "lm --text train.en --folds 2 --output out.1",
        "--folds needs an output name with {fold}, and a text that can be read several times",
    ),
    (
        "lm --text train.en --order 2 --no-discount-fallback --text train.domain --output out.1",
        "train.domain: no Kneser-Ney discounts for the 1-grams: none of them has the count 3",
    ),
    ("lm --text train.en --output grammars", "grammars: cannot write: it is a directory"),
    ("lm --text train.en --output train.en", "train.en: the output would replace an input"),
    ("extract --index index --sentences train.de", "--sentences and --output belong together"),
    (
        "extract --index new.index --source train.de",
        "--source, --target and --alignment belong together: give all three or none",
    ),
    (
        "extract --index index --sentences train.de --jobs 0 --output new.grammars",
        "argument --jobs: 0 is not a number of processes; give at least 1",
    ),
    (
        "extract --index index --sentences train.de --jobs many --output new.grammars",
        "argument --jobs: many is not a number of processes; give at least 1",
    ),
    (
        "extract --index index --sentences train.en --leave-one-out --output new.grammars",
        "train.en:1: is not the source side of training sentence 1",
    ),
    (
        "extract --index index --sentences train.de --folds 1 --output new.grammars",
        "folds is 1, which leaves no training sentence; give 0, or at least 2",
    ),
    (
        "extract --index index --sentences train.de --folds 2 --leave-one-out --output new.grammars",
        "leave_one_out and folds exclude each other",
    ),
    (
        "extract --index index --sentences train.de --max-span 0 --output new.grammars",
        "max_span is 0; give a whole number from 1 to 255",
    ),
    (
        "extract --index index --sentences train.de --max-nonterminals 3 --output new.grammars",
        "max_nonterminals is 3; give a whole number from 0 to 2",
    ),
    (
        "extract --index index --sentences train.de --output shards",
        "shards: this folder has shards in it, not grammars",
    ),
    (
        "extract --index index --sentences train.de --output run",
        "run: this folder has a training run in it, not grammars",
    ),
    (
        "extract --index index --sentences train.de --output train.de",
        "train.de: cannot write: this is a file, not a folder",
    ),
    (
        "extract --index index --sentences train.de --output train.de/below",
        "train.de/below/.itersel-folder: cannot write: a file is where a folder should be",
    ),
    (
        "extract --index train.de --source train.de --target train.en --alignment train.align",
        "train.de: the output would replace an input",
    ),
    ("shard --sentences train.de --index index --output run", "run: this folder has a training run in it, not shards"),
    (
        "shard --sentences train.de --index index --output grammars",
        "grammars: this folder has grammars in it, not shards",
    ),
    ("shard --sentences train.de --index index --output out.1", "out.1: cannot write: this is a file, not a folder"),
    (
        "shard --sentences train.de --index index --output out.1/below",
        "out.1/below: cannot write: a file is where a folder should be",
    ),
    ("shard --sentences train.de --index index", "wrong combination of --output and --plan"),
    (
        "shard --sentences train.de --index index --size 0 --output new.shards",
        "size is 0; give a whole number of at least 1",
    ),
    (
        "shard --sentences train.de --index index --shards 0 --output new.shards",
        "shards is 0; give a whole number of at least 1",
    ),
    ("shard --sentences train.de --index index --shards 99 --output new.shards", "6 sentences do not fill 99 shards"),
    (
        "shard --sentences train.de --index index --size 2 --shards 2 --output new.shards",
        "argument --shards: not allowed with argument --size",
    ),
    (
        "shard --sentences train.de --index index --layout domains --output new.shards",
        "the layout `domains` needs a label for every sentence",
    ),
    (
        "shard --sentences train.de --index index --layout circle --output new.shards",
        "argument --layout: invalid choice: 'circle' (choose from 'random', 'sequential', 'domain",
    ),
    ("shard --sentences train.de --index index --features some --output new.shards", "unknown feature group 'some'"),
    (
        "shard --sentences train.de --index index --jobs 0 --output new.shards",
        "argument --jobs: 0 is not a number of processes; give at least 1",
    ),
    ("shard --sentences train.de --index index --goal [S] --output new.shards", "goal is '[S]'"),
    (
        "shard --sentences train.de --grammars grammars --runner local --output new.shards",
        "a map-reduce job extracts rules from an index",
    ),
    ("shard --sentences train.de --output new.shards", "train.de:1: this line names no grammar"),
    ("shard --sentences train.de --grammars nowhere --output new.shards", "nowhere: not a folder"),
    ("build build.yaml --set work=run", "run: this folder has a training run in it, not a build"),
    ("build build.yaml --set work=out.1", "out.1: cannot write: this is a file, not a folder"),
    ("build build.yaml --set work=out.1/below", "out.1/below: cannot write: a file is where a folder should be"),
    ("build build.yaml --set jobs=0", "--set jobs=0: jobs is 0; give a whole number from 1 to 100,000"),
    ("build build.yaml --set lm.order=9", "--set lm.order=9: lm.order is 9; give a whole number from 2 to 6"),
    ("build build.yaml --set nothing", "--set: not an assignment: 'nothing'"),
    ("build build.yaml --set no.such=1", "--set no.such=1: unknown key 'no'"),
    ("build build.yaml --set text.tokenize_source=xx", "'xx' is not the code of a language"),
    (
        "build build.yaml --set text.tokenize_target=th",
        "Thai (th) has no blanks between words, and there are no rules for it here",
    ),
    ("build build.yaml --set train.held_out.x=99", "99 of 6 training pairs are to be held out"),
    ("train --output new.run", "there are no shards to train on"),
    ("train train.yaml --output shards", "shards: this folder has shards in it, not a training run"),
    ("train train.yaml --output grammars", "grammars: this folder has grammars in it, not a training run"),
    ("train train.yaml --output out.1", "out.1: cannot write: this is a file, not a folder"),
    ("train train.yaml --output out.1/below", "out.1/below: cannot write: a file is where a folder should be"),
    (
        "train train.yaml --output run --eta 0.5",
        "run: this directory belongs to a run with another configuration or other data:",
    ),
    ("train train.yaml --output new.run --jobs 0", "argument --jobs: 0 is not a number of processes; give at least 1"),
    (
        "train train.yaml --output new.run --jobs -3",
        "argument --jobs: -3 is not a number of processes; give at least 1",
    ),
    ("train train.yaml --output new.run --epochs 0", "--epochs: epochs is 0; give a whole number from 1 to 999"),
    ("train train.yaml --output new.run --eta -1", "--eta: epoch.learn.eta is -1.0; give a number greater than 0"),
    (
        "train train.yaml --output new.run --metric magic",
        "--metric: epoch.metric is 'magic'; choose one of bleu, stupid_bleu, fixed_stupid_bleu, s",
    ),
    ("train train.yaml --output new.run -k 0", "-k: epoch.k is 0; give a whole number from 2 to 1,000,000"),
    (
        "train train.yaml --output new.run --runner abacus",
        "argument -r/--runner: invalid choice: 'abacus' (choose from 'inline', 'local', 'mrjob-in",
    ),
    (
        "train train.yaml --output new.run --layout circle",
        "argument --layout: invalid choice: 'circle' (choose from 'files', 'random', 'reshard', '",
    ),
    (
        "train train.yaml --output new.run --set epoch.learn.l1=x",
        "--set epoch.learn.l1=x: epoch.learn.l1 is 'x'; give a number of at least 0",
    ),
    ("train train.yaml --output new.run --algorithm magic", "--algorithm: unknown algorithm 'magic'"),
    (
        "train --shards grammar --output new.run",
        "grammar: not a shard file (its first bytes are wrong); make it with 'itersel shard'",
    ),
    ("train --shards shards/*.nothing --output new.run", "shards/*.nothing: shards: no such file"),
    (
        "train --shards lists --output new.run",
        "lists: not a shard file (its first bytes are wrong); make it with 'itersel shard'",
    ),
    ("translate train.de --weights weights --output out.1", "train.de:1: this line names no grammar"),
    (
        "translate train.de --grammar grammar --grammars grammars --weights weights --output out.1",
        "argument --grammars: not allowed with argument --grammar",
    ),
    ("translate train.de --grammar grammar --output out.1", "the following arguments are required: --weights"),
    (
        "translate train.de --grammar grammar --weights weights --jobs 0 --output out.1",
        "argument --jobs: 0 is not a number of processes; give at least 1",
    ),
    ("translate train.de --grammar grammar --weights weights --kbest 0 --output out.1", "kbest is 0"),
    (
        "translate train.de --grammar grammar --weights weights --format moses --output out.1",
        "--format and --unique are for lists",
    ),
    (
        "translate train.de --grammar grammar --weights weights --unique --output out.1",
        "--format and --unique are for lists",
    ),
    (
        "translate train.de --grammar grammar --weights weights --features some --output out.1",
        "unknown feature group 'some'",
    ),
    (
        "translate train.de --grammar grammar --weights weights --span-limit -1 --output out.1",
        "span_limit is -1; give a whole number from 0 to 1,000,000,000",
    ),
    (
        "translate train.de --grammar grammar --weights weights --pop-limit -1 --output out.1",
        "pop_limit is -1; give a whole number from 0 to 1,000,000,000",
    ),
    ("translate train.de --grammar grammar --weights weights --goal [S] --output out.1", "goal is '[S]'"),
    (
        "translate train.de --grammar grammar --weights weights --output shards",
        "shards: cannot write: not a regular file",
    ),
    (
        "translate train.de --grammar grammar --weights weights --output train.de",
        "train.de: the output would replace an input",
    ),
    (
        "translate train.de --grammar grammar --weights weights --output weights",
        "weights: the output would replace an input",
    ),
    ("translate train.de --grammars nowhere --weights weights --output out.1", "nowhere: not a folder"),
    ("rerank", "the following arguments are required: ACTION"),
    ("rerank dance", "argument ACTION: invalid choice: 'dance' (choose from 'train', 'apply')"),
    ("rerank train --output new.run", "no lists to train on"),
    (
        "rerank train --lists lists --output new.run",
        "no references and no objective: one of them must say which hypotheses are good",
    ),
    (
        "rerank train --lists lists --references train.en --output shards",
        "shards: this folder has shards in it, not a training run",
    ),
    (
        "rerank train --lists lists --references train.en --output out.1",
        "out.1: cannot write: this is a file, not a folder",
    ),
    (
        "rerank train --lists lists --references train.en --jobs 0 --output new.run",
        "argument --jobs: 0 is not a number of processes; give at least 1",
    ),
    (
        "rerank train --lists lists --references train.en --metric magic --output new.run",
        "--metric: objective.metric is 'magic'; choose one of bleu, stupid_bleu, fixed_stupid_bleu,",
    ),
    (
        "rerank train --lists lists --references train.en --features 1 --output new.run",
        "field 1 is the list's id or the text",
    ),
    ("rerank train --lists lists --references train.en --features x --output new.run", "'x' is not a field"),
    (
        "rerank train --lists lists --references train.en --objective 9 --output new.run",
        "both references and an objective: one of them must say which hypotheses are good",
    ),
    (
        "rerank train --lists lists.jsonl --references train.en --features none --output new.run",
        "lists.jsonl:1: no 'none'",
    ),
    (
        "rerank apply lists --weights weights --jobs 0 --output out.1",
        "argument --jobs: 0 is not a number of processes; give at least 1",
    ),
    ("rerank apply lists --weights weights --score 2 --output out.1", "field 2 is the list's id or the text"),
    (
        "rerank apply lists --weights weights --form json --output out.1",
        "lists:1: not JSON: Extra data: line 1 column 3 (char 2)",
    ),
    ("rerank apply lists --weights weights --output lists", "lists: the output would replace an input"),
    ("rerank apply lists --weights weights --output run", "run: cannot write: not a regular file"),
    ("evaluate", "nothing to evaluate"),
    ("evaluate train.de", "no references"),
    ("evaluate a=train.de,train.de --reference train.en", "the file train.de is given twice for a"),
    ("evaluate a= --reference train.en", "not a system: 'a='"),
    ("evaluate train.de --reference train.en --metrics magic", "metrics is magic"),
    ("evaluate train.de --reference train.en --metrics bleu,bleu", "metrics is bleu,bleu"),
    ("evaluate train.de --reference train.en --baseline nobody", "there is no system nobody"),
    ("evaluate train.de --reference train.en --trials 0", "trials is 0"),
    (
        "evaluate train.de --reference train.en --jobs 0",
        "argument --jobs: 0 is not a number of processes; give at least 1",
    ),
    (
        "evaluate train.de --reference train.en --tokenize magic",
        "argument --tokenize: invalid choice: 'magic' (choose from 'none', '13a', 'intl', 'char',",
    ),
    ("train --shards shards --algorithm mert --eta 0.1 --output out.1", "--eta: mert has no use for it"),
    ("train --shards shards --algorithm hols -k 0 --output out.1", "-k: hols.k is 0"),
    ("train --shards shards --set algorithm=mert --metric stupid --output out.1", "mert.metric"),
    (
        "rerank train --lists lists --references train.en --algorithm pro --top 5 --output out.1",
        "--top: pro has no use",
    ),
    ("report", "the following arguments are required: RUN"),
    ("report nowhere --output out.1", "nowhere: not a run: there is no run.json"),
    ("report shards --output out.1", "shards: not a run: there is no run.json"),
    ("report train.de --output out.1", "train.de: not a run: there is no run.json"),
    ("report run --features -1 --output out.1", "features is -1"),
    ("report run --sentences -1 --output out.1", "sentences is -1"),
    ("report run --output shards", "shards: cannot write: not a regular file"),
    ("report run --output out.1/below", "out.1/below: cannot write: a file is where a folder should be"),
    (
        "report run --evaluation evaluation.json --output evaluation.json",
        "evaluation.json: the output would replace an input",
    ),
    ("inspect nowhere", "nowhere: cannot read: No such file or directory"),
    ("inspect shards --sentence 0", "shards: not a shard file"),
    ("inspect train.de --derivation", "translating needs weights"),
    ("inspect weights --grep (", "grep '(': missing ), unterminated subpattern at position 0"),
    ("inspect weights --top -1", "top is -1"),
    ("inspect weights --sentence 0", "weights: not a shard file"),
    ("inspect shards/shard.0000.itsh --sentence 99", "shards/shard.0000.itsh: sentence is 99"),
    ("inspect shards/shard.0000.itsh --sentence -1", "shards/shard.0000.itsh: sentence is -1"),
    ("inspect shards/shard.0000.itsh --sentence 0 --derivation", "translating needs weights"),
    ("inspect shards/shard.0000.itsh --sentence 0 --weights weights --derivation --rank 0", "rank is 0"),
    ("inspect shards/shard.0000.itsh --sentence 0 --rank 1", "rank is 1"),
    ("demo --jobs 0", "argument --jobs: 0 is not a number of processes; give at least 1"),
    ("demo --sources shards", "shards: this folder has no conf/demo.yaml or no data/demo"),
    ("demo --output run", "run: this folder has a training run in it, not the demo"),
    ("demo --output out.1", "out.1: cannot write: this is a file, not a folder"),
    ("experiment experiment.yaml --only nothing --output new.results", "no cell of the grid matches 'nothing'"),
    ("experiment experiment.yaml --table --output new.results", "no cell is finished yet"),
    (
        "experiment experiment.yaml --output run",
        "run: this folder has a training run in it, not results of an experiment",
    ),
    ("experiment experiment.yaml --output out.1", "out.1: cannot write: this is a file, not a folder"),
    (
        "experiment experiment.yaml --jobs 0 --output new.results",
        "argument --jobs: 0 is not a number of processes; give at least 1",
    ),
    ("experiment experiment.yaml --set no.such=1 --output new.results", "--set no.such=1: unknown key 'no'"),
    ("wheelhouse run", "run: this folder has a training run in it, not a wheelhouse"),
    ("wheelhouse shards", "shards: this folder has shards in it, not a wheelhouse"),
    ("wheelhouse grammars", "grammars: this folder has grammars in it, not a wheelhouse"),
    ("wheelhouse out.1", "out.1: cannot write: this is a file, not a folder"),
    ("wheelhouse new.house --source shards", "shards: no sources to build a wheel from"),
    ("completion", "the following arguments are required: shell"),
    ("completion tcsh", "argument shell: invalid choice: 'tcsh' (choose from 'bash', 'zsh', 'fish')"),
    ("", "the following arguments are required: VERB"),
    ("geoquery", "the following arguments are required: ACTION"),
    ("geoquery ask ?", "the question is empty"),
    ("geoquery ask texas --data nowhere --model new.model", "nowhere: there is no GeoQuery data set here"),
    ("geoquery ask texas --data shards --model new.model", "shards: there is no GeoQuery data set here"),
    ("geoquery experiment nowhere.yaml", "nowhere.yaml: cannot read: No such file or directory"),
    ("geoquery experiment train.yaml", "train.yaml:1: unknown key 'shards'"),
    ("geoquery experiment train.yaml --set x", "--set: not an assignment: 'x'"),
    ("nonsense", "invalid choice: 'nonsense'"),
    ("--nonsense", "the following arguments are required: VERB"),
]

# What is no mistake: empty in, empty out; weights and grammars without entries.
FINE = {
    ("split apply", "train.de", "empty"),
    ("extract", "train.de", "empty"),
    ("shard grammars", "grammars/grammar.0.gz", "empty"),
    ("shard grammars", "grammars/grammar.5.gz", "empty"),
    ("shard sgml", "grammars/grammar.1.gz", "empty"),
    ("train", "weights", "empty"),
    ("train options", "weights", "empty"),
    ("translate", "train.de", "empty"),
    ("translate", "grammar", "empty"),
    ("translate", "weights", "empty"),
    ("translate sgml", "input.sgm", "empty"),
    ("translate sgml", "weights", "empty"),
    ("translate sgml", "grammars/grammar.2.gz", "empty"),
    ("rerank options", "weights", "empty"),
    ("rerank apply", "lists", "empty"),
    ("rerank apply", "weights", "empty"),
    ("rerank json", "lists.jsonl", "empty"),
    ("rerank json", "weights", "empty"),
    ("report", "run/manifest.json", "missing"),  # a run that has not finished an epoch
    ("inspect shard", "weights", "empty"),
    *(  # an empty file or a folder is shown as what it is
        (name, file, damage)
        for name, file in (
            ("inspect grammar", "grammar"),
            ("inspect weights", "weights"),
            ("inspect arpa", "lm.arpa"),
            ("inspect binary", "lm.bin"),
        )
        for damage in ("empty", "folder")
    ),
    ("experiment", "weights", "empty"),
}
# Messages that name what is missing instead of the file.
UNNAMED = {
    ("shard grammars", "grammars/grammar.0.gz", "missing"): "train.de:1: there is no grammar.0 or grammar.0.gz",
    ("shard grammars", "grammars/grammar.5.gz", "missing"): "train.de:6: there is no grammar.5 or grammar.5.gz",
    ("translate", "train.de", "folder"): "--grammar has no effect on shards",
    ("train", "train.yaml", "empty"): "there are no shards to train on",
    ("rerank train", "rerank.yaml", "empty"): "no lists to train on",
}
DAMAGED = [
    (name, file, damage)
    for name in COMMANDS
    for file in inputs(name)
    for damage in DAMAGES
    if (name, file, damage) not in FINE
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """The world's folder, and all that is in it."""
    folder = tmp_path_factory.mktemp("world")
    before = Path.cwd()
    os.chdir(folder)
    handler = signal.getsignal(signal.SIGTERM)
    make_world(folder)
    yield folder, snapshot(folder)
    signal.signal(signal.SIGTERM, handler)
    os.chdir(before)


@pytest.fixture
def refused(world, capsys):
    """Runs a command, with a file changed, that must be refused; gives the message."""
    folder, good = world
    changed: list[str] = []

    def call(command: str, file: str | None = None, change=None) -> str:
        if file is not None:
            changed.append(file)
            change(folder / file)
        before = snapshot(folder)
        capsys.readouterr()
        try:
            code = main(command.split())
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        assert code == 2, said.err
        assert "Traceback" not in said.err and "error: " in said.err
        after = {path: content for path, content in snapshot(folder).items() if not is_new(path)}
        assert after == before
        return said.err.rpartition("error: ")[2].replace(f"{folder}/", "")

    def is_new(path: str) -> bool:
        return os.path.relpath(path, folder).startswith("new")

    yield call
    for file in changed:
        if (folder / file).is_dir():
            (folder / file).rmdir()
        (folder / file).write_bytes(good[str(folder / file)])
    for path in folder.glob("new*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_commands_work(world, name):
    folder, good = world
    assert main(COMMANDS[name].split()) == 0
    for path in folder.glob("new*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for number in (1, 2):
        (folder / f"out.{number}").write_bytes(good[str(folder / f"out.{number}")])
    assert snapshot(folder) == good


@pytest.mark.parametrize(("name", "file", "damage"), DAMAGED)
def test_damaged_files(refused, name, file, damage):
    change, message = DAMAGES[damage]
    said = refused(COMMANDS[name], file, change)
    unnamed = UNNAMED.get((name, file, damage))
    if unnamed is not None:
        assert said.startswith(unnamed)
    else:
        assert Path(file).name in said and re.search(message, said, re.IGNORECASE), said


@pytest.mark.parametrize(("name", "file", "content", "message"), MISTAKES)
def test_mistakes_in_files(refused, name, file, content, message):
    command = RESUME if name == "resume" else COMMANDS[name]
    assert message in refused(command, file, lambda path: path.write_bytes(content.encode("latin1")))


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS)
def test_mistakes_in_arguments(refused, arguments, message):
    assert message in refused(arguments)


def test_the_tables_are_complete():
    tried = {command.split()[0] for command in [*COMMANDS.values(), *(line for line, _ in ARGUMENTS if line)]}
    assert set(VERBS) <= tried
    assert len(MISTAKES) + len(ARGUMENTS) >= 300 and len(DAMAGED) >= 300
