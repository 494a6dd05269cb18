"""``rankbook predict``, ``evaluate`` and ``compare``: models on new items."""

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import typer

from ...base.errors import ArgumentError, Assumption
from ...base.limits import warn
from ...base.progress import progress_bar
from ...base.validation import as_positive
from . import options as opt
from .pages import Report, Scored, check_report, write_report
from .reading import (
    DataFiles,
    advice_on_new_items,
    asked_preferences,
    check_file,
    check_table,
    open_file_blocks,
    parse_names,
    preferences_between,
    refuse_beside,
    several_files,
    spoken_warnings,
    with_query,
)
from .report import count, left_out, note, say, shows_bars

Model = typer.Argument(
    metavar="MODEL", help="Model saved by rankbook fit, rankbook select or Python."
)
Scores = opt.option(
    str,
    "File to write the scores to: .csv .tsv .parquet, or .trec (a run for trec_eval and"
    " ir_measures). The default is standard output.",
    "-o",
    "--output",
    "--out",
    metavar="FILE",
)
Ranked = opt.option(bool, "Sort the items of each query, best first.", "--ranked")
Pairs = opt.option(
    str,
    "Table with two columns of item names (see --name) or row numbers. For each row, write the"
    " probability that the first item is preferred to the second, instead of scores.",
    "--pairs",
    metavar="FILE",
)
Formulas = opt.option(
    bool,
    "Write text that begins with =, +, -, @ or a tab unchanged to .csv and .tsv files. By default"
    " it is preceded by an apostrophe, so that a spreadsheet does not run it as a formula.",
    "--formulas",
)


@contextmanager
def name_argument(argument, file):
    """Name the argument in errors about a file that cannot be loaded."""
    if file == "-":
        raise ArgumentError(f"{argument} is '-', standard input", "a file")
    check_file(argument, file)
    try:
        yield
    except ArgumentError as error:
        if error.argument != "file":
            raise
        raise error.renamed(argument) from error


def load_model(file, argument="MODEL"):
    """Load the model of a file named by an argument; refuse files of paths."""
    from rankbook.estimators.saving import load

    with name_argument(argument, file):
        model = load(file)
    if not hasattr(model, "predict") or hasattr(model, "breakpoints"):
        raise ArgumentError(f"{argument} is {str(file)!r}, which holds {model!r}", "a model")
    return model


def predict(  # noqa: PLR0913 -- an option of the command each
    model: Annotated[str, Model],
    data: DataFiles,
    output: Scores = "-",
    qid: opt.Qid = None,
    name: opt.Name = None,
    ranked: Ranked = False,
    pairs: Pairs = None,
    formulas: Formulas = False,
    as_json: opt.Json = False,
):
    """Score items, or compare pairs of items, with a saved model.

    Columns that the model does not use are ignored; a missing column is an error. A run (.trec)
    lists the best item of each query first and breaks ties by the last name, as trec_eval does. For
    items named by QUERY,ITEM, --ranked and runs take the first column as query ids, and a run
    contains the names of the second. For a survival model, a higher score means a longer survival;
    a risk is the negative of a score.
    --pairs needs a model with probabilities, for example one fitted with --loss logistic.
    """
    import numpy as np
    import pandas as pd

    from rankbook.data.writers import RUN, TABLES, json_rows, write_frame, write_run

    files = several_files(data)
    if pairs is not None and (files or ranked or qid or output.endswith(RUN)):
        raise ArgumentError(
            f"pairs is {pairs!r}, together with several files, --ranked, --qid or a run",
            "one file of items and one table of pairs",
        )
    check_table("--output", output, (*TABLES, RUN), *(files or data), model)
    is_run = output.removesuffix(".gz").lower().endswith(RUN)
    if as_json and output != "-":
        raise ArgumentError(
            f"--output is {output!r} and --json prints to standard output", "only one of the two"
        )
    with spoken_warnings(queries=ranked or is_run):
        found, how = load_model(model), dict(needs_target=False, scored=False)
        how["ranks"] = ranked or is_run
        with advice_on_new_items(found):
            blocks, roles = open_file_blocks(data, files, found, qid=qid, name=name, **how)
            with progress_bar(files is not None and shows_bars(), "rows") as tell:
                tables = blocks.map(score_table, blocks.items, found, tell).values
        if pairs is not None:
            tables = [pair_table(tables[0], pairs, found.link_)]
        for table, stored in zip(tables, blocks.items.values if files else ()):
            table.insert(0, "file", str(stored.read.table))
        frame = pd.concat(tables, ignore_index=True)
        if ranked and not is_run:
            by = ["qid"] if "qid" in frame else []
            up = [True] * len(by) + [False]
            frame = frame.sort_values([*by, "score"], ascending=up, kind="stable")
            queries = frame["qid"] if by else np.zeros(len(frame))
            frame.insert(0, "rank", frame.groupby(queries).cumcount() + 1)
        if is_run:
            if roles.qid is not None and (roles.name or "").startswith(f"{roles.qid},"):
                frame["name"] = frame["name"].str.partition(",")[2]  # "query,item"
            write_run(frame, output)
        elif as_json:
            typer.echo(json_rows(frame))
        else:
            write_frame(frame, output, formulas)


def score_table(block, model, tell):
    """Return row, query, name and score of each item of a block, as a DataFrame.

    `tell` is called with the number of rows that have scores.
    """
    import pandas as pd

    from rankbook.metrics.models import block_scores

    scores = block_scores(block, model)
    rows = range(block.first, block.first + len(scores))
    tell(rows.stop, "")
    columns = dict(row=rows, qid=block.qid, name=block.item_names, score=scores)
    return pd.DataFrame({key: value for key, value in columns.items() if value is not None})


def pair_table(scores, file, link):
    """Return items and probability of each pair of a file, as a DataFrame.

    `scores` is a DataFrame of :func:`score_table`.
    """
    import numpy as np

    from rankbook.data.table import Source, read_frame, row_names
    from rankbook.metrics.probabilities import probabilities_of
    from rankbook.preferences.names import name_rows

    check_file("--pairs", file)
    source = Source(file)
    given = read_frame(source, list)
    if len(given.columns) != 2:
        raise ArgumentError(
            f"pairs has {count(len(given.columns), 'column')}",
            "two columns, the items of each pair",
        )
    key = "name" if "name" in scores else "row"
    columns = {f"{source}: {c}": np.asarray(row_names(source, given[c])) for c in given.columns}
    try:
        ends = name_rows(columns, scores[key].to_numpy())[0]
    except ArgumentError as error:
        if error.argument == "items":
            raise error.renamed("name") from error
        if key == "row":
            error.add_note("the items have no names; --name COLUMN names the column that has them")
        raise
    score = scores["score"].to_numpy()
    difference = score[ends[0]] - score[ends[1]]
    return given.assign(probability=probabilities_of(link, difference))


def holds_scores(file):
    """Return whether a file contains scores, by its ending."""
    return file.removesuffix(".gz").lower().endswith((".csv", ".tsv", ".parquet"))


def ranking_of(file, data, files=None, argument="MODEL", **columns):
    """Return blocks of DATA, and a predictor of their scores.

    The file, named by `argument`, is a model or a table of scores; `columns` as in
    :func:`rankbook.app.cli.reading.open_file_blocks`.
    """
    if files is not None and holds_scores(file):
        raise ArgumentError(
            f"{argument} is {file!r}, a table of scores, and DATA names several files",
            "a model, or one file of data",
        )
    check_file(argument, file)
    try:
        model = SimpleNamespace(columns=()) if holds_scores(file) else load_model(file, argument)
    except ArgumentError as error:
        error.add_note("scores are read from a table that ends in .csv, .tsv or .parquet")
        raise
    try:
        blocks, roles = open_file_blocks(data, files, model, **columns)
    except ArgumentError as error:
        if error.argument == "target" and error.given == "is None":
            error.add_note("--preferences FILE gives preferences in its place")
        raise
    if holds_scores(file):
        from .score_tables import scores_in

        scores = scores_in(file, blocks.items.values[0], roles, data[0])
        model = SimpleNamespace(predict=lambda X: scores)
    return blocks, model


def names_column(model, block, name=None):
    """Return the column of names that a block was read with: --name, or the model's, or None."""
    known = None if block.item_names is None else getattr(model, "about", {}).get("name")
    return known if name is None else name


Ranking = typer.Argument(
    metavar="MODEL",
    help="Saved model, or table of scores (.csv .tsv .parquet) with a column score. Rows of a"
    " table are joined with DATA by a column row, or else by query ids and names of items (see"
    " --name).",
)
Metrics = opt.option(
    list[str],
    "Names of metrics, separated by commas: disagreement, auc, ndcg@K, map (or average_precision),"
    " mrr (or reciprocal_rank), err, precision@K, recall@K, kendall_tau, brier_score, log_loss and"
    " others. The option can be repeated.",
    "--metric",
    metavar="METRIC",
)
ByQuery = opt.option(bool, "Print one row for each query.", "--by-query")


@dataclass
class SurvivalOptions:
    """Options of survival times."""

    cluster: opt.option(
        str,
        "Survival times: column of clusters of dependent rows, such as the patient of each row, for"
        " the interval of the concordance.",
        metavar="COLUMN",
    ) = None
    groups: opt.option(
        int,
        "Survival times: number of risk groups to compare by the log-rank test. With --train they"
        " are cut at quantiles of the scores of the training set, else they are of equal size.",
    ) = None
    at: opt.option(
        float,
        "Survival times: compare the probabilities of a Cox model to live beyond this time with the"
        " observed shares, in 5 groups or in --groups. Needs --train.",
        metavar="TIME",
    ) = None
    train: opt.option(
        str,
        "Training set of the model, with its columns of times and events, for --at and --groups.",
        metavar="FILE",
        callback=opt.file_of,
    ) = None


def check_survival_options(asked, ranking):
    """Refuse options of survival times (a dict) that are wrong, or lack others, for a MODEL."""
    if asked["at"] is not None:
        as_positive("at", asked["at"])
    if asked["at"] is not None and asked["train"] is None:
        raise ArgumentError(
            f"at is {asked['at']:g} and --train is missing",
            "--train FILE with the training set, from which the hazard is estimated",
        )
    if asked["train"] is not None and asked["at"] is None and asked["groups"] is None:
        raise ArgumentError(
            f"train is {asked['train']!r}, but neither --at nor --groups is given",
            "one of them, or omit --train",
        )
    if asked["train"] is not None:
        check_file("--train", asked["train"])
        if holds_scores(ranking):
            raise ArgumentError(
                f"train is {asked['train']!r} and MODEL is a table of scores", "a model as MODEL"
            )


def require_times(asked, files, target):
    """Refuse options of survival times, as a dict, for a target without them or several files."""
    for name, value in asked.items():
        if value is not None and files is not None:
            raise ArgumentError(
                f"{name} is {value!r}, and DATA names several files", "one file as DATA"
            )
        if value is not None and getattr(target, "survival", None) is None:
            raise ArgumentError(
                f"{name} is {value!r} and DATA has no survival times", "--time and --event"
            )


def training_scores(file, model, columns):
    """Return the survival times of a training set, and the scores of a model."""
    from rankbook.metrics.models import block_scores
    from rankbook.preferences.orders import survival_target

    blocks, _ = open_file_blocks([file], None, model, **columns)
    (block,) = blocks.items.values
    target = survival_target(block.y, block.qid)
    if target is block.y:
        raise ArgumentError(f"train is {file!r}, which has no survival times", "--time and --event")
    return target, block_scores(block, model)


def evaluate(  # noqa: PLR0913 -- an option of the command each
    *,
    ranking: Annotated[str, Ranking],
    data: DataFiles,
    roles: opt.RoleOptions,
    preferences: opt.Events = None,
    records: opt.EventOptions,
    metric: Metrics = None,
    by_query: ByQuery = False,
    survival: SurvivalOptions,
    report_file: Report = None,
    as_json: opt.Json = False,
):
    """Evaluate a model or a table of scores on labelled data.

    The columns of the target and the queries default to those that the model was fitted with. The
    mean excludes queries for which a metric is undefined, such as NDCG without a grade above 0, and
    the report counts them. With --preferences, the metrics are weighted shares of the preferences
    in that file.

    For survival times, the command reports Harrell's concordance with an interval, and the
    disagreement. With late entries, several rows may belong to one patient: name the patients by
    --cluster. --groups adds risk groups with the log-rank test, and --at the calibration at a time.
    The page of --report contains both, and the coefficients of a model that was fitted with
    --coefficients. A higher score means a longer survival, so pass the negative of a risk. Uno's
    concordance, the time-dependent AUC and the Brier score are available in Python (rb.metrics).

    For a model with probabilities, for example one fitted with --loss logistic, the report adds the
    Brier score, the log loss and a reliability diagram: how often the predicted winner won, by
    predicted probability.
    """
    import pandas as pd

    from rankbook.app.evidence import is_pooled
    from rankbook.app.measures import (
        USUAL,
        measures,
        measures_by_query,
        preference_measures,
        reliability_rows,
    )
    from rankbook.data.writers import json_rows, write_frame
    from rankbook.metrics.models import block_scores
    from rankbook.preferences.graph import Preferences
    from rankbook.preferences.orders import survival_target
    from rankbook.preferences.target import Target

    metric = parse_names(metric) or None
    check_report(report_file, ranking, *data, preferences)
    check_survival_options(vars(survival), ranking)
    asked = asked_preferences(data, preferences, **vars(records), name=roles.name)
    with spoken_warnings(queries=asked is None) as notes:
        files, columns = several_files(data), dict(vars(roles))
        if report_file is not None and files is not None:
            raise ArgumentError(
                f"--report is {str(report_file)!r} and DATA names several files", "one file as DATA"
            )
        if asked is not None:
            refuse = {key: columns[key] for key in ("target", "time", "event", "entry")}
            refuse_beside(**refuse, **vars(survival), by_query=by_query or None)
            if files is not None:
                raise ArgumentError(
                    f"preferences is {preferences!r}, and DATA names several files",
                    "one file as DATA",
                )
            columns |= dict(needs_target=False, scored=False)
        of_times = dict(columns)
        columns |= {} if survival.cluster is None else dict(cluster=survival.cluster)
        blocks, model = ranking_of(ranking, data, files, **columns)
        block = blocks.items.values[0]
        prefs = None if files else survival_target(block.y, block.qid)
        require_times(vars(survival), files, prefs)
        if asked is not None or isinstance(prefs, Target):
            if asked is not None:
                asked = with_query(asked, records.form, names_column(model, block, roles.name))
                prefs = preferences_between(asked, block.X.shape[0], block.item_names)
            elif by_query:
                raise ArgumentError(
                    "by_query is True", "Omit by_query, because survival times have no queries."
                )
            scores = block_scores(block, model)
            given = dict(names=block.item_names, title=f"{ranking} on {data[0]}", notes=notes)
            one = {Path(ranking).name: Scored(model, scores)}
            clusters, results = getattr(block, "cluster", None), []
            if (survival.at, survival.groups) != (None, None):
                from rankbook.app.survival import require_cox_model, survival_results

                more = dict(at=survival.at, groups=survival.groups)
                if survival.at is not None:
                    require_cox_model(model, survival.at)
                if survival.train is not None:
                    more |= dict(train=training_scores(survival.train, model, of_times))
                results = survival_results(prefs, scores, **more)
            facts = preference_measures(prefs, scores, metric, model, cluster=clusters)
            rows = [] if metric else reliability_rows(prefs, scores, model)
            facts |= dict(reliability=rows) if rows else {}
            if facts.get("concordance_interval") and clusters is None and prefs.unit == "order":
                warn(
                    Assumption(
                        "cluster: the interval of the concordance counts each row as a patient. If "
                        "a patient has several rows, pass --cluster COLUMN."
                    )
                )
            write_report(
                report_file,
                one,
                block.X,
                preferences=prefs,
                cluster=clusters,
                results=results,
                **given,
            )
            lines = []
            for name, value in facts["metrics"].items():
                told = interval_words(facts) if name == "concordance" else ""
                lines.append(f"{name:18}{value:.6f}{told}")
            lines += reliability_lines(rows)
            for each in results:
                facts[each.key] = each.facts
                lines += ["", str(each)]
            if facts["metrics"].get("concordance", 0.5) < 0.5:
                longer = "a higher score means a longer survival; pass the negative of a risk"
                note(f"concordance below 0.5: {longer}")
            return say(json.dumps(facts, indent=2) if as_json else "\n".join(lines))
        if by_query:
            ids, values = measures_by_query(blocks, model, metric or USUAL[:4])
            frame = pd.DataFrame(dict(qid=ids) | values)
            return typer.echo(json_rows(frame)) if as_json else write_frame(frame)
        facts, rows = measures(blocks, model, metric), []
        if report_file is not None:
            given = dict(names=block.item_names, title=f"{ranking} on {data[0]}", notes=notes)
            of_queries = [each for each in metric or () if not is_pooled(each)]
            given |= dict(metric=next(iter(of_queries), None) if block.qid is not None else None)
            one = {Path(ranking).name: model}
            write_report(report_file, one, block.X, block.y, block.qid, **given)
        if not (metric or files):
            prefs = Preferences.from_scores(block.y, block.qid)
            rows = reliability_rows(prefs, block_scores(block, model), model)
    facts |= dict(level_auc=[]) if metric else {}
    facts |= dict(reliability=rows) if rows else {}
    if as_json:
        return typer.echo(json.dumps(facts, indent=2))
    for name, value in facts["metrics"].items():
        typer.echo(f"{name:18}{value:.6f}{left_out(facts, name)}")
    for row in facts["level_auc"]:
        area = "no query has both" if row["auc"] is None else f"{row['auc']:.6f}"
        levels = f"auc {row['better']:g} > {row['worse']:g}"
        typer.echo(f"{levels:18}{area}")
    for line in reliability_lines(rows):
        typer.echo(line)


def interval_words(facts):
    """Describe the interval of a concordance, or why it has none."""
    if "no_interval" in facts:
        return f", no interval, because {facts['no_interval']}"
    low, high = facts["concordance_interval"]
    of = f" of {facts['clusters']} clusters" if "clusters" in facts else ""
    return f", 95% interval {low:.4f} to {high:.4f}{of}"


def reliability_lines(rows):
    """Format the bins of :func:`rankbook.app.measures.reliability_rows` as lines of text."""
    return [
        f"{'won, {low:g} to {high:g}'.format(**row):18}{row['observed']:.6f}, "
        f"predicted {row['predicted']:.6f}, {count(row['preferences'], 'preference', ',')}"
        for row in rows
    ]


First = typer.Argument(metavar="A", help="Saved model, or table of scores.")
Second = typer.Argument(metavar="B", help="Saved model, or table of scores, to compare with A.")
Metric = opt.option(
    str,
    "Metric to compare, a mean over queries: ndcg@10 (default), ndcg@K, average_precision, ..."
    " With --preferences the metric is always pair_accuracy.",
    metavar="METRIC",
)
Resamples = opt.option(int, "Number of bootstrap samples and of random sign changes.")
Seed = opt.option(int, "Random seed of the resamples.")


def compare(  # noqa: PLR0913 -- an option of the command each
    *,
    a: Annotated[str, First],
    b: Annotated[str, Second],
    data: opt.Data,
    target: opt.Target = None,
    qid: opt.Qid = None,
    name: opt.Name = None,
    preferences: opt.Events = None,
    records: opt.EventOptions,
    metric: Metric = None,
    resamples: Resamples = 9999,
    seed: Seed = 0,
    report_file: Report = None,
    as_json: opt.Json = False,
):
    """Compare two rankers by paired tests.

    The tests compare A and B query by query. With --preferences the tests compare single
    preferences, as if preferences were independent.
    """
    import numpy as np

    from rankbook.app.measures import of_table_or_model
    from rankbook.metrics.compare import compare as compare_scores
    from rankbook.metrics.models import block_scores
    from rankbook.preferences.orders import survival_target

    asked = asked_preferences([data], preferences, **vars(records), name=name)
    check_report(report_file, a, b, data, preferences)
    if data == "-":
        raise ArgumentError(
            "DATA is '-', standard input, which rankbook reads once for A and once for B", "a file"
        )
    with spoken_warnings(queries=asked is None) as notes:
        scores, columns = [], dict(target=target, qid=qid, name=name)
        if asked is not None:
            refuse_beside(target=target, metric=None if metric == "pair_accuracy" else metric)
            columns |= dict(needs_target=False, scored=False)
        for argument, file in (("A", a), ("B", b)):
            blocks, model = ranking_of(file, [data], argument=argument, **columns)
            (block,) = blocks.items.values
            scores.append((model, block_scores(block, model)))
        more = dict(n_resamples=resamples, random_state=seed)
        if asked is not None:  # treat each preference as a query of two items
            asked = with_query(asked, records.form, names_column(model, block, name))
            prefs = preferences_between(asked, block.X.shape[0], block.item_names)
            numbers, known = np.repeat(np.arange(len(prefs)), 2), np.tile([1, 0], len(prefs))
            of_pairs = []
            for model, each in scores:
                judged, each = of_table_or_model(model, prefs, each)
                of_pairs.append(each[np.column_stack([judged.better, judged.worse]).ravel()])
            weights = np.repeat(prefs.weight, 2)
            found = compare_scores(known, *of_pairs, numbers, weights, metric="precision@1", **more)
            found = replace(found, metric="pair_accuracy")
        elif survival_target(block.y) is not block.y:
            raise ArgumentError(
                "DATA has survival times",
                "grades or preferences",
                "For survival times, use rankbook evaluate.",
            )
        elif block.qid is None:
            raise ArgumentError("data has no queries", "data with query ids (--qid)")
        else:
            metric = "ndcg@10" if metric is None else metric
            found = compare_scores(
                block.y, *(each for _, each in scores), block.qid, metric=metric, **more
            )
    if report_file is not None:
        names = [Path(each).name for each in (a, b)]
        names = names if names[0] != names[1] else [a, b]
        two = {name: Scored(*each) for name, each in zip(names, scores)}
        given = dict(preferences=prefs) if asked is not None else dict(y=block.y, qid=block.qid)
        given |= dict(metric=None if asked else metric, names=block.item_names)
        title = f"{names[0]} and {names[1]} on {data}"
        write_report(report_file, two, block.X, **given, title=title, notes=notes)
    # NaN, an undefined p-value, becomes null
    facts = {key: None if value != value else value for key, value in vars(found).items()}
    text = str(found)
    if asked is not None:
        facts = {key.replace("queries", "preferences"): value for key, value in facts.items()}
        text = text.replace(" queries", " preferences")
    say(json.dumps(facts, indent=2) if as_json else text)
