import type { Instant } from '../../kernel/codec/instant.js'

/** `eval-2026-01-31-quiet-harbor`: a name for people, always the same for a run. */
export const runName = (id: string, startedAt: Instant): string => {
  let hash = 0
  for (const character of id) hash = (hash * 31 + character.codePointAt(0)!) >>> 0
  const adjective = ADJECTIVES[hash % ADJECTIVES.length]!
  const noun = NOUNS[Math.floor(hash / ADJECTIVES.length) % NOUNS.length]!
  return `eval-${startedAt.slice(0, 10)}-${adjective}-${noun}`
}

const words = (text: string): readonly string[] => text.split(/\s+/)

const ADJECTIVES = words(
  `amber brave bright calm clear cool crisp deep eager fair fresh gentle golden green happy keen kind
   light lively merry mild noble plain proud quick quiet rapid silver steady swift warm wise`,
)

const NOUNS = words(
  `acorn anchor beacon birch breeze brook canyon cedar cloud comet coral creek delta dune ember falcon
   fern field fjord forest garden glacier harbor heron island lake lark maple meadow mesa moon oak
   ocean orchard otter pebble pine prairie rain reef ridge river robin sparrow spring stone stream
   summit thistle valley willow wind wren`,
)
