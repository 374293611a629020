import type { CompilePattern } from '../../domain/ports/patterns.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { SecretStore } from '../../domain/ports/secret-store.js'
import type { Access } from '../auth/access.js'
import type { TestPorts } from './send-test.js'

interface SendingTests extends TestPorts {
  readonly compilePattern: CompilePattern
  readonly secrets: Pick<SecretStore, 'get'>
}

/** What webhooks and automations are managed with. */
export interface Automations {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'sha256'> & SendingTests
  readonly access: Pick<Access, 'directory'>
  /** Takes and releases names one after another, so that only another process can come in between. */
  readonly inTurn: <A>(task: () => Promise<A>) => Promise<A>
}
