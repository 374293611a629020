import type { Json } from '../../src/domain/json/json.js'
import type { Operation } from '../support/described/description.js'

/** In which way a request is meant to be good or bad. */
export type Kind =
  'valid' | 'spoilt' | 'broken' | 'type' | 'encoding' | 'method' | 'header' | 'path' | 'key' | 'outsider'

/** A request of the fuzz, before somebody sends it. */
export interface Ask {
  readonly kind: Kind
  readonly operation: Operation
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
  /** What the body says, where it is JSON. */
  readonly said: Json | undefined
}

/** The request in short, for whoever wants to send it again. */
export const shown = ({ kind, operation, method, path, headers, body }: Ask): string => {
  const { authorization: _, ...others } = headers
  const text = body === undefined ? '' : body.toString('utf8')
  return `${kind} ${operation.operationId}: ${method} ${path} ${JSON.stringify(others)} ${text.slice(0, 1500)}`
}
