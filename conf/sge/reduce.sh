#!/bin/sh
# One task of the array reduces one range of keys, after all map tasks. `itersel train -r sge` submits this:
#   qsub -t 1-R -hold_jid MAP … reduce.sh PYTHON FILE
# Settings of a site go here, or into run.options (which win):
##$ -q all.q
##$ -l h_rt=00:30:00
##$ -l h_vmem=8G
# module load python/3.11
"$1" -m itersel.engines.batch_worker "$2" $((SGE_TASK_ID - 1)) && exit
exit 100
