"""Settings of the Hadoop of one machine (cluster.py): all on 127.0.0.1, small, and quick to notice what is dead."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

QUICK_START = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
QUICK_START += ["-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"]
"""Java machines are short-lived here. Maven has checked the jars; checking each class again is a seventh of a start."""


def write_settings(home: Path, port: dict[str, int]) -> None:
    """Into etc/hadoop of the cluster's folder."""

    def at(name: str) -> str:
        return f"127.0.0.1:{port[name]}"

    small = f"-Xmx160m @{home}/etc/java.args"  # its class path replaces the one that YARN sets
    settings: dict[str, dict[str, object]] = {
        "core-site": {
            "fs.defaultFS": f"hdfs://{at('hdfs')}",
            "hadoop.tmp.dir": home / "data" / "tmp",
            "ipc.client.connect.max.retries": 5,
        },
        "hdfs-site": {
            "dfs.namenode.name.dir": f"file://{home}/data/name",
            "dfs.datanode.data.dir": f"file://{home}/data/blocks",
            "dfs.namenode.http-address": at("hdfs_web"),
            "dfs.datanode.address": "127.0.0.1:0",
            "dfs.datanode.http.address": "127.0.0.1:0",
            "dfs.datanode.ipc.address": "127.0.0.1:0",
            "dfs.replication": 1,
            "dfs.namenode.safemode.extension": 0,
            # The blocks share the machine's disk with everything else.
            "dfs.namenode.resource.du.reserved": 1 << 20,
            "dfs.datanode.du.reserved": 0,
        },
        "yarn-site": {
            "yarn.resourcemanager.address": at("yarn"),
            "yarn.resourcemanager.scheduler.address": at("scheduler"),
            "yarn.resourcemanager.resource-tracker.address": at("tracker"),
            "yarn.resourcemanager.admin.address": at("admin"),
            "yarn.resourcemanager.webapp.address": at("yarn_web"),
            "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": 300,
            "yarn.nm.liveness-monitor.expiry-interval-ms": 20000,  # a dead node is noticed
            "yarn.am.liveness-monitor.expiry-interval-ms": 120000,  # a busy machine is not a dead one
            # An application master that starts or stops a task on a dead node asks no longer than this, not 3 minutes.
            "yarn.client.nodemanager-connect.max-wait-ms": 20000,
            "yarn.client.nodemanager-connect.retry-interval-ms": 1000,
            "yarn.scheduler.minimum-allocation-mb": 128,
            "yarn.nodemanager.address": "127.0.0.1:0",
            "yarn.nodemanager.localizer.address": "127.0.0.1:0",
            "yarn.nodemanager.webapp.address": "127.0.0.1:0",
            "yarn.nodemanager.collector-service.address": "127.0.0.1:0",
            "yarn.nodemanager.aux-services": "mapreduce_shuffle",
            "yarn.nodemanager.env-whitelist": "JAVA_HOME,HADOOP_HOME,HADOOP_CONF_DIR,PATH,LANG,TZ,ITERSEL_NODE_CACHE",
            "yarn.nodemanager.resource.memory-mb": 2048,
            "yarn.nodemanager.resource.cpu-vcores": 4,
            "yarn.nodemanager.pmem-check-enabled": "false",
            "yarn.nodemanager.vmem-check-enabled": "false",
            # A fairly full disk is no sick disk.
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 100,
            "yarn.nodemanager.disk-health-checker.min-free-space-per-disk-mb": 0,
            "yarn.log-aggregation-enable": "true",  # `yarn logs` shows a failed task's own words
            "yarn.log-aggregation.retain-seconds": 86400,
            "yarn.application.classpath": f"{home}/etc/hadoop,{home}/jars/*",
        },
        "capacity-scheduler": {
            "yarn.scheduler.capacity.root.queues": "default",
            "yarn.scheduler.capacity.root.default.capacity": 100,
            "yarn.scheduler.capacity.maximum-am-resource-percent": 0.5,
        },
        "mapred-site": {
            "mapreduce.framework.name": "yarn",
            "mapreduce.application.classpath": f"{home}/jars/*",
            "mapreduce.shuffle.port": 0,
            "yarn.app.mapreduce.am.resource.mb": 512,
            "yarn.app.mapreduce.am.command-opts": small,
            "mapreduce.map.memory.mb": 512,
            "mapreduce.map.java.opts": small,
            "mapreduce.reduce.memory.mb": 512,
            "mapreduce.reduce.java.opts": small,
            "mapreduce.task.io.sort.mb": 32,
            # Jobs are short here: look more often than once a second.
            "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 250,
            "mapreduce.client.progressmonitor.pollinterval": 300,
        },
    }
    for name, values in settings.items():
        lines = [
            f"  <property><name>{key}</name><value>{escape(str(value))}</value></property>"
            for key, value in values.items()
        ]
        text = "\n".join(['<?xml version="1.0"?>', "<configuration>", *lines, "</configuration>", ""])
        (home / "etc" / "hadoop" / f"{name}.xml").write_text(text)
    (home / "etc" / "hadoop" / "log4j.properties").write_text(
        "hadoop.root.logger=INFO,console\n"
        "log4j.rootLogger=${hadoop.root.logger}\n"
        "log4j.appender.console=org.apache.log4j.ConsoleAppender\n"
        "log4j.appender.console.target=System.err\n"
        "log4j.appender.console.layout=org.apache.log4j.PatternLayout\n"
        "log4j.appender.console.layout.ConversionPattern=%d{yy/MM/dd HH:mm:ss} %p %c{2}: %m%n\n"
        "log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR\n"
    )
