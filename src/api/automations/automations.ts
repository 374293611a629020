import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { CompilePattern } from '../../domain/ports/patterns.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { SecretStore } from '../../domain/ports/secret-store.js'
import type { Access } from '../auth/access.js'
import type { Reading } from '../reading.js'
import type { TestPorts } from './send-test.js'

/** What it takes to check what an automation or a webhook is to be. */
export interface CheckingPorts extends Pick<Ports, 'eventStore' | 'ids' | 'sha256'> {
  readonly compilePattern: CompilePattern
}

/** Tests of webhooks are sent too. */
interface ManagingPorts extends CheckingPorts, TestPorts {
  readonly secrets: Pick<SecretStore, 'get'>
  /** Aborted when this process ends so soon that tests which are under way have to be given up. */
  readonly endingTests: AbortSignal
}

/** What webhooks and automations are managed with. */
export interface Automations {
  readonly ports: ManagingPorts
  readonly access: Pick<Access, 'directory'>
  /** Deliveries are counted with these. */
  readonly reading: Pick<Reading, 'waitForNow'>
  readonly reader: ClickHouseReader
  /** Takes and releases names one after another, so that only another process can come in between. */
  readonly inTurn: <A>(task: () => Promise<A>) => Promise<A>
}
