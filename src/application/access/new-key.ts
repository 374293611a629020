import type { NewApiKey } from '../../domain/access/commands.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { RandomKey } from '../../kernel/ports/secrets.js'

export type KeyPorts = Pick<Ports, 'ids' | 'clock' | 'sha256'> & { readonly randomKey: RandomKey }

/** A key in clear text, to be shown once, and the part that the log stores. */
export interface CreatedKey {
  readonly key: string
  readonly known: NewApiKey
}

export const makeKey = (ports: KeyPorts, name: string | null, id = ports.ids.next()): CreatedKey =>
  describeKey(ports, ports.randomKey(), name, id)

/** The part of a provided key that the log stores. */
export const describeKey = (
  { clock, sha256 }: Pick<KeyPorts, 'clock' | 'sha256'>,
  key: string,
  name: string | null,
  id: string,
): CreatedKey => ({
  key,
  known: {
    key_id: id,
    name,
    prefix: visiblePart(key),
    hash: sha256(key),
    issued_at: instantOf(clock.now()),
    kind: 'key',
    scope: 'all',
    expires_at: null,
    made_by: null,
  },
})

const MOST_VISIBLE = 8

/** Shows at most a quarter of a key, so that a short key of the operator stays hard to guess. */
const visiblePart = (key: string): string => key.slice(0, Math.min(MOST_VISIBLE, key.length >> 2))
