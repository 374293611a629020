import type { SecretStore } from '../../kernel/ports/secret-store.js'
import type { Access } from '../../application/access/access.js'
import type { Reading } from '../../application/reading/reading.js'
import type { ValidationPorts } from '../../application/webhooks/checks.js'
import type { TestPorts } from '../../application/webhooks/send-test.js'

interface ManagingPorts extends ValidationPorts, TestPorts {
  readonly secrets: Pick<SecretStore, 'get'>
  /** Aborted on shutdown, before running tests would delay it. */
  readonly endingTests: AbortSignal
}

export interface Automations {
  readonly ports: ManagingPorts
  readonly access: Pick<Access, 'directory'>
  /** Used to count canceled deliveries. */
  readonly reading: Pick<Reading, 'waitForNow'>
  /** Serialises changes of names in this process, so that only another process can conflict. */
  readonly runExclusive: <A>(task: () => Promise<A>) => Promise<A>
}
