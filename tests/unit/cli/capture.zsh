# Prints what zsh's own completion offers for the command line $1: types it and a tab into a shell on a pseudo-terminal.
# The completion function _itersel lies in the current folder.
zmodload zsh/zpty || exit 1
zpty shell zsh -f -i
() {
  zpty -w shell source $1
  repeat 40; do
    zpty -r shell line
    [[ $line == ready* ]] && return
  done
  print -u2 'the shell did not start'
  exit 2
} =(cat <<'INNER'
PROMPT=
fpath=($PWD $fpath)
autoload -U compinit
compinit -u -D
bindkey '^M' undefined
bindkey '^J' undefined
bindkey '^I' complete-word
edge() { echo -E - $'\0' }
compprefuncs=(edge)
comppostfuncs=(edge exit)
zstyle ':completion:*' list-grouped false
zstyle ':completion:*' insert-tab false
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
    builtin compadd "$@"
    return
  fi
  local -a hits
  builtin compadd -A hits "$@"
  local one
  for one in $hits; do echo -E - $one; done
  builtin compadd "$@"
}
echo ready
INNER
)
zpty -w shell "$1"$'\t'
integer inside=0
while zpty -r shell; do :; done | while IFS= read -r line; do
  if [[ $line == *$'\0\r' ]]; then
    (( inside++ )) && exit 0
    continue
  fi
  (( inside )) && print -r -- ${line%$'\r'}
done
exit 0
