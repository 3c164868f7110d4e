"""EMR as far as moto goes: buckets, uploads, cluster and steps are moto's; the steps' tasks run in processes here."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import signal
import sys
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from emr_steps import Nodes
from moto.backends import get_backend
from moto.emr.models import Application, Cluster
from moto.server import ThreadedMotoServer

from engine_cases import assert_same_run, run, small_data, write_config
from engine_contract import check_doubled_item, check_failure, check_map_and_reduce
from itersel.base import version
from itersel.base.config import read_yaml
from itersel.base.errors import ConfigError, InputError, ResourceError
from itersel.cli import main
from itersel.engines import RunConfig
from itersel.engines.emr import EmrEngine
from itersel.engines.emr_settings import CONF, EmrSettings, instance_size
from itersel.run.config import TrainConfig
from itersel.run.driver import train
from tuner_cases import TUNERS, check_tuner

REGION, BUCKET = "eu-central-1", "training"
SECRET_ID, SECRET_KEY, SECRET_TOKEN = (
    "AKIAQ7DONOTTELLME42X",
    "p4ss/wJalrXUtnFEMIdonottellanyone0000000",
    "tok3nThatNobodySees",
)


def add_applications_with_versions(cluster: Cluster, given: list) -> None:
    """EMR fills in the versions, and mrjob asks for Hadoop's; moto leaves them out."""
    cluster.applications += [Application(one.get("name") or one["Name"], "3.4.1", [], {}) for one in given]


@pytest.fixture
def aws(monkeypatch) -> Iterator[str]:
    """moto's server, and credentials that must not be seen anywhere."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", SECRET_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SECRET_TOKEN)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setattr(EmrEngine, "log_patience", 2.0)
    monkeypatch.setattr(Cluster, "add_applications", add_applications_with_versions)
    place = {"LocationConstraint": REGION}
    boto3.client("s3", region_name=REGION).create_bucket(Bucket=BUCKET, CreateBucketConfiguration=place)
    yield BUCKET
    for service in ("s3", "emr", "ec2", "iam"):  # the server keeps everything in this process
        get_backend(service).reset()
    server.stop()


@pytest.fixture
def nodes(aws, tmp_path) -> Iterator[Nodes]:
    made = Nodes(REGION, tmp_path / "nodes")
    made.start()
    yield made
    made.stop()
    assert made.defects == []


@pytest.fixture
def wheelhouse(tmp_path) -> Path:
    """One with nothing in it but its manifest: moto's nodes install nothing."""
    folder = tmp_path / "wheelhouse"
    folder.mkdir()
    (folder / "itersel.whl").write_bytes(b"wheel")
    entry = {"name": "itersel.whl", "bytes": 5, "sha256": hashlib.sha256(b"wheel").hexdigest()}
    manifest = {"format": 1, "version": version.__version__, "build": version.build_id(), "files": [entry]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def emr_config(wheelhouse: Path, *more: str) -> RunConfig:
    options = ["--wheelhouse", str(wheelhouse), "--check-cluster-every", "0.1", "--python-bin", sys.executable, *more]
    return RunConfig("emr", reducers=2, store=f"s3://{BUCKET}/itersel", options=tuple(options))


def on_emr(config: TrainConfig, wheelhouse: Path, *more: str) -> TrainConfig:
    return dataclasses.replace(config, run=emr_config(wheelhouse, *more))


def keys(prefix: str = "") -> dict[str, int]:
    found = boto3.client("s3", region_name=REGION).list_objects_v2(Bucket=BUCKET, Prefix=prefix)
    return {one["Key"]: one["Size"] for one in found.get("Contents", [])}


def clusters() -> dict[str, str]:
    emr = boto3.client("emr", region_name=REGION)
    return {one["Id"]: one["Status"]["State"] for one in emr.list_clusters()["Clusters"]}


def written(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.slow
def test_same_bytes_one_cluster_and_no_credentials(nodes, wheelhouse, tmp_path, capfd):
    """Two epochs with devtest: one cluster for all, ended with the run; uploads once; nothing secret anywhere."""
    config = dataclasses.replace(small_data(tmp_path), epochs=2)
    run(config, tmp_path / "inline")
    run(on_emr(config, wheelhouse), tmp_path / "emr")
    assert_same_run(tmp_path / "inline", tmp_path / "emr")
    assert list(clusters().values()) == ["TERMINATED"]
    assert len(nodes.steps) == 2 + 3  # epochs, and devtest before and after each
    files = keys("itersel/files/")
    shards = ["0.itsh", "1.itsh", "2.itsh", "3.itsh", "dev.itsh"]
    models = ["lm.0.arpa", "lm.1.arpa", "lm.2.arpa", "lm.arpa"]
    assert sorted(os.path.basename(key) for key in files) == shards + models
    assert keys() == files | keys("itersel/logs/"), "temporary files are left"
    said = capfd.readouterr()
    everything = written(tmp_path / "emr") + (said.out + said.err).encode()
    assert b"Created new cluster" in everything  # mrjob's log is among it
    for secret in (SECRET_ID, SECRET_KEY, SECRET_TOKEN):
        assert secret.encode() not in everything


@pytest.mark.slow
@pytest.mark.parametrize("check", [check_map_and_reduce, check_failure, check_doubled_item])
def test_contract(nodes, wheelhouse, tmp_path, check):
    check(lambda folder: EmrEngine(emr_config(wheelhouse), folder), tmp_path)


@pytest.mark.slow
def test_a_tuner(nodes, wheelhouse, tmp_path):
    """HOLS: a gradient, and the jobs of MERT."""
    data = small_data(tmp_path)
    data = dataclasses.replace(data, shards=data.shards[:2])
    check_tuner(data, "hols", emr_config(wheelhouse), tmp_path, dataclasses.replace(TUNERS["hols"], updates=1))


@pytest.mark.slow
def test_the_cluster_is_the_one_of_the_configuration(nodes, wheelhouse, tmp_path):
    """Release, instances, spot, roles, logs and the bootstrap that installs our wheel, as EMR was asked for them."""
    engine_config = emr_config(wheelhouse, "--core-instance-bid-price", "0.20", "--num-core-instances", "3")
    (tmp_path / "run").mkdir()
    cluster = EmrEngine(engine_config, tmp_path / "run").cluster
    emr = boto3.client("emr", region_name=REGION)
    found = emr.describe_cluster(ClusterId=cluster)["Cluster"]
    assert found["ReleaseLabel"] == read_yaml(CONF)["runners"]["emr"]["release_label"]
    assert found["LogUri"] == f"s3://{BUCKET}/itersel/logs/"
    assert found["ServiceRole"] == "EMR_DefaultRole"
    groups = emr.list_instance_groups(ClusterId=cluster)["InstanceGroups"]
    asked = {
        one["InstanceGroupType"]: (one["InstanceType"], one["RequestedInstanceCount"], one.get("BidPrice"))
        for one in groups
    }
    assert asked == {"MASTER": ("m6i.xlarge", 1, None), "CORE": ("m6i.2xlarge", 3, "0.20")}
    scripts = [one["ScriptPath"] for one in emr.list_bootstrap_actions(ClusterId=cluster)["BootstrapActions"]]
    s3 = boto3.client("s3", region_name=REGION)
    read = [s3.get_object(Bucket=BUCKET, Key=one.removeprefix(f"s3://{BUCKET}/"))["Body"].read() for one in scripts]
    text = b"\n".join(read).decode()
    assert "install.py /opt/itersel" in text
    archive = next(key for key in keys("itersel/temporary/") if key.endswith(".tar.gz"))
    s3.download_file(BUCKET, archive, str(tmp_path / "shipped.tar.gz"))
    with tarfile.open(tmp_path / "shipped.tar.gz") as shipped:
        assert {"manifest.json", "itersel.whl"} <= {os.path.basename(name) for name in shipped.getnames()}
    again = EmrEngine(engine_config, tmp_path / "run")  # as after a kill of the driver
    assert again.cluster == cluster
    again.close()
    assert clusters() == {cluster: "TERMINATED"}
    assert keys("itersel/temporary/") == {}


@pytest.mark.slow
def test_a_named_cluster_stays_and_a_corrupt_shard_is_named(nodes, wheelhouse, tmp_path):
    emr = boto3.client("emr", region_name=REGION)
    instances = {"MasterInstanceType": "m6i.xlarge", "InstanceCount": 1, "KeepJobFlowAliveWhenNoSteps": True}
    roles = {"JobFlowRole": "EMR_EC2_DefaultRole", "ServiceRole": "EMR_DefaultRole"}
    place = f"s3://{BUCKET}/itersel/logs/"
    ours = emr.run_job_flow(Name="ours", ReleaseLabel="emr-7.13.0", Instances=instances, LogUri=place, **roles)[
        "JobFlowId"
    ]
    config = dataclasses.replace(small_data(tmp_path), devtest=())
    engine_config = on_emr(config, wheelhouse, "--cluster-id", ours)
    (address,) = EmrEngine(engine_config.run, tmp_path).stage([config.shards[1]]).values()
    damaged = address.removeprefix(f"s3://{BUCKET}/")
    content = bytearray(Path(config.shards[1]).read_bytes())
    content[len(content) // 2] ^= 1
    boto3.client("s3", region_name=REGION).put_object(Bucket=BUCKET, Key=damaged, Body=bytes(content))
    with pytest.raises(InputError, match=r"checksum") as caught:
        train(engine_config, tmp_path / "run")
    assert damaged in str(caught.value).splitlines()[0] or "shard 1" in str(caught.value).splitlines()[0]
    assert "Traceback" not in str(caught.value)
    assert clusters()[ours] != "TERMINATED"


@pytest.mark.slow
def test_an_interrupt_ends_the_cluster(nodes, wheelhouse, tmp_path):
    nodes.paused.set()  # a step that takes its time
    config, ended = dataclasses.replace(small_data(tmp_path), devtest=()), threading.Event()

    def interrupt() -> None:
        while not any(cluster.steps for cluster in nodes.clusters()):
            nodes.stopped.wait(0.05)
        os.kill(os.getpid(), signal.SIGINT)
        while not ended.wait(120):  # one that comes in a callback of the imitation is lost
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            train(on_emr(config, wheelhouse), tmp_path / "run")
    finally:
        ended.set()
    assert list(clusters().values()) == ["TERMINATED"]
    assert keys("itersel/temporary/") == {}


def test_dry_run_without_credentials(tmp_path, capsys, monkeypatch):
    """Everything that would be made, and the instance hours, of which the sums are checked."""
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # nobody there: asking anything would fail
    config = small_data(tmp_path)
    path = tmp_path / "train.json"
    write_config(dataclasses.replace(config, run=RunConfig()), path)
    command = ["train", str(path), "--output", str(tmp_path / "run"), "-r", "emr", "--dry-run"]
    assert main(command) == 2
    assert "EMR needs a place in S3" in capsys.readouterr().err
    command += ["--store", f"s3://{BUCKET}/itersel", "--set", "run.options=[--core-instance-type, r6i.4xlarge]"]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "1 × m6i.xlarge, on demand" in said
    assert "4 × r6i.4xlarge" in said
    assert f"s3://{BUCKET}/itersel/logs/" in said
    assert "install.py /opt/itersel" in said
    assert "slots        63 map tasks" in said  # 16 processors of 4 nodes, less one
    words = {line.split()[0]: line.split() for line in said.splitlines() if "instance hours" in line}
    assert float(words["core"][1]) == pytest.approx(4 * float(words["master"][1]), abs=0.03)
    assert float(words["cost"][1]) == pytest.approx(5 * float(words["master"][1]), abs=0.04)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", ["--aws-secret-access-key=x", "--cmdenv=AWS_SESSION_TOKEN=x"])
def test_credentials_are_refused_in_options(option):
    with pytest.raises(ConfigError, match="names a credential"):
        EmrSettings.read(RunConfig("emr", store="s3://bucket", options=(option,)))


def test_credentials_are_refused_in_the_configuration_file(tmp_path):
    (tmp_path / "conf").write_text("runners: {emr: {aws_secret_access_key: x}}")
    with pytest.raises(ConfigError, match="must not be in a file"):
        EmrSettings.read(RunConfig("emr", store="s3://bucket", options=("-c", str(tmp_path / "conf"))))
    (tmp_path / "conf").write_text("runners: {hadoop: {}}")
    with pytest.raises(ConfigError, match="no group runners: emr:"):
        EmrSettings.read(RunConfig("emr", store="s3://bucket", options=("-c", str(tmp_path / "conf"))))


@pytest.mark.parametrize("store", [None, "/folder", "s3://", "hdfs:///x", "s3://UPPER/x"])
def test_the_store_must_be_in_s3(store):
    with pytest.raises(ConfigError, match="needs a place in S3"):
        EmrSettings.read(RunConfig("emr", store=store))


def test_a_wheelhouse_of_other_code_is_refused(wheelhouse, tmp_path):
    manifest = json.loads((wheelhouse / "manifest.json").read_text())
    (wheelhouse / "manifest.json").write_text(json.dumps(manifest | {"build": "0123456789abcdef"}))
    with pytest.raises(ConfigError, match="0123456789abcdef"):
        train(on_emr(small_data(tmp_path), wheelhouse), tmp_path / "run")
    with pytest.raises(ConfigError, match="no wheelhouse"):
        train(on_emr(small_data(tmp_path), tmp_path / "none"), tmp_path / "other")


def test_no_credentials_is_said_plainly(wheelhouse, tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it remembers credentials of other tests
    with pytest.raises(ResourceError, match="AWS needs credentials"):
        train(on_emr(small_data(tmp_path), wheelhouse), tmp_path / "run")


def test_sizes_of_instances_are_those_of_the_table():
    """Names say the size: compared with EMR's own table, as moto has it."""
    from moto.emr.models import emr_backends

    table = emr_backends["123456789012"][REGION]._instance_types
    compared = 0
    for kind, facts in table.items():
        try:
            size = instance_size(kind)
        except ConfigError:
            continue
        compared += 1
        assert size[0] == facts["VCPU"], kind
        assert 0.9 * size[1] <= facts["MemoryGB"] <= size[1], kind  # the system keeps some
    assert compared > 400
    with pytest.raises(ConfigError, match="not known"):
        instance_size("hpc7g.metal")
