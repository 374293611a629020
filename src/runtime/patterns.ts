import { LRUCache } from 'lru-cache'
import type { CompilePattern, Pattern } from '../domain/ports/patterns.js'

/** Longer texts match nothing: an alias, a tag and the name of a run are all shorter. */
const MAX_CHARACTERS = 4096
const MAX_PATTERNS = 1000

const matchesNothing: Pattern = () => false

/** Compiles each pattern once and caches it; an invalid one matches nothing. */
export const rememberedPatterns = (compile: CompilePattern): ((source: string) => Pattern) => {
  const cache = new LRUCache<string, Pattern>({ max: MAX_PATTERNS })
  return (source) => {
    const pattern = cache.get(source) ?? bounded(compile(source))
    cache.set(source, pattern)
    return pattern
  }
}

const bounded = (compiled: ReturnType<CompilePattern>): Pattern =>
  'pattern' in compiled ? (text) => text.length <= MAX_CHARACTERS && compiled.pattern(text) : matchesNothing
