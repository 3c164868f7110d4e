#!/bin/sh
# One task of the array maps one work item, such as a shard. `itersel train -r sge` submits this:
#   qsub -t 1-N … map.sh PYTHON FILE
# Settings of a site go here, or into run.options (which win):
##$ -q all.q
##$ -l h_rt=01:00:00
##$ -l h_vmem=4G
# module load python/3.11
"$1" -m itersel.engines.batch_worker "$2" $((SGE_TASK_ID - 1)) && exit
# Grid Engine starts a job that waits for this one whatever our exit code, except 100: then it keeps on waiting.
exit 100
