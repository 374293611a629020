import { utf8Bytes } from '../../kernel/codec/text.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { invalid } from '../../application/failure.js'

const MAX_BYTES = 255

/** Derives the same id for a retry by the same user with the same `Idempotency-Key`; otherwise a new id. */
export const repeatableId = (
  { ids, sha256 }: Pick<Ports, 'ids' | 'sha256'>,
  user: string,
  idempotencyKey: string | string[] | undefined,
): string => {
  if (idempotencyKey === undefined) return ids.next()
  const text = String(idempotencyKey)
  if (text === '' || utf8Bytes(text) > MAX_BYTES)
    throw invalid([
      {
        loc: ['header', 'Idempotency-Key'],
        type: 'value_error',
        msg: `String should have 1 to ${MAX_BYTES} bytes`,
      },
    ])
  return sha256(`${user}\n${text}`).slice(0, 32)
}
