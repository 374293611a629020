import type { NewApiKey } from '../../domain/access/commands.js'
import { instantOf } from '../../domain/codec/instant.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { RandomKey } from '../../domain/ports/secrets.js'

export type KeyPorts = Pick<Ports, 'ids' | 'clock' | 'sha256'> & { readonly randomKey: RandomKey }

/** A key in clear, to be shown once, and what the log may know of it. */
export interface MadeKey {
  readonly key: string
  readonly known: NewApiKey
}

export const makeKey = (ports: KeyPorts, name: string | null, id = ports.ids.next()): MadeKey =>
  describeKey(ports, ports.randomKey(), name, id)

/** What the log may know of a key that somebody else made. */
export const describeKey = (
  { clock, sha256 }: Pick<KeyPorts, 'clock' | 'sha256'>,
  key: string,
  name: string | null,
  id: string,
): MadeKey => ({
  key,
  known: {
    key_id: id,
    name,
    prefix: visiblePart(key),
    hash: sha256(key),
    issued_at: instantOf(clock.now()),
  },
})

const MOST_VISIBLE = 8

/** At most a quarter of a key is shown, so that a short one of the operator's own keeps its strength. */
const visiblePart = (key: string): string => key.slice(0, Math.min(MOST_VISIBLE, key.length >> 2))

/** Headers of responses that carry a key: no cache on the way may keep it. */
export const neverStored = { 'Cache-Control': 'no-store' }
