import type { CompilePattern, Pattern } from '../../ports/patterns.js'

/** Longer texts match nothing: an alias, a tag and the name of a run are all shorter. */
const MOST_CHARACTERS = 4096
const MOST_REMEMBERED = 1000

const matchesNothing: Pattern = () => false

/** Compiles each pattern once and remembers the last thousand; one that does not compile matches nothing. */
export const rememberedPatterns = (compile: CompilePattern): ((source: string) => Pattern) => {
  const known = new Map<string, Pattern>()
  return (source) => {
    const before = known.get(source)
    const found = before ?? bounded(compile(source))
    if (before !== undefined) known.delete(source)
    known.set(source, found)
    const [oldest] = known.keys()
    if (known.size > MOST_REMEMBERED && oldest !== undefined) known.delete(oldest)
    return found
  }
}

const bounded = (compiled: ReturnType<CompilePattern>): Pattern =>
  'pattern' in compiled ? (text) => text.length <= MOST_CHARACTERS && compiled.pattern(text) : matchesNothing
