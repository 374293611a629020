import type { CompilePattern } from '../../domain/ports/patterns.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { Access } from '../auth/access.js'

/** What webhooks and automations are managed with. */
export interface Automations {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'sha256'> & { readonly compilePattern: CompilePattern }
  readonly access: Pick<Access, 'directory'>
  /** Takes and releases names one after another, so that only another process can come in between. */
  readonly inTurn: <A>(task: () => Promise<A>) => Promise<A>
}
