# SPDX-License-Identifier: GPL-2.0-or-later
# What zsh completes at the end of LINE with the completion functions of FOLDER, a word a line:
#     zsh -f complete.zsh FOLDER LINE
# An interactive zsh on a terminal of its own is typed to; what its functions hand to compadd is printed between two NULs,
# but for calls that only sort words.
zmodload zsh/zpty || exit 1
zpty inner "exec zsh -f -i"
zpty -w inner "PROMPT= ; stty -echo; fpath=(${(q)1} \$fpath); autoload -Uz compinit && compinit -u -D"
zpty -w inner '
setopt no_auto_list
bindkey "^I" complete-word
mark() { print -n "\0" }
compprefuncs=(mark)
comppostfuncs=(mark exit)
compadd() {
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
        local -a words
        builtin compadd -A words "$@"
        (( ! $#words )) || print -rl -- $words
    fi
    builtin compadd "$@"
}
print rea""dy'
out=
until [[ $out == *ready* ]]; do
    zpty -r inner chunk || exit 1
    out+=$chunk
done
zpty -wn inner "$2"$'\t'
out=
while zpty -r inner chunk; do
    out+=$chunk
done
out=${${out#*$'\0'}%%$'\0'*}
print -rn -- ${out//$'\r'/}
