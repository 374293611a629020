import { LRUCache } from 'lru-cache'
import type { CompilePattern, Pattern } from './ports/patterns.js'

/** Longer texts match nothing: aliases, tags and run names are all shorter. */
const MAX_CHARACTERS = 4096
const MAX_PATTERNS = 1000

const matchesNothing: Pattern = () => false

/** Compiles each pattern once and caches it; an invalid one matches nothing. */
export const cachedPatterns = (compile: CompilePattern): ((source: string) => Pattern) => {
  const cache = new LRUCache<string, Pattern>({ max: MAX_PATTERNS })
  return (source) => {
    const pattern = cache.get(source) ?? bounded(compile(source))
    cache.set(source, pattern)
    return pattern
  }
}

const bounded = (compiled: ReturnType<CompilePattern>): Pattern =>
  'pattern' in compiled ? (text) => text.length <= MAX_CHARACTERS && compiled.pattern(text) : matchesNothing
