import type { AttemptRecords } from '../kernel/ports/attempt-records.js'
import type { HmacSha256 } from '../kernel/ports/hmac.js'
import type { Log } from '../kernel/ports/log.js'
import type { CompilePattern } from '../kernel/ports/patterns.js'
import type { Ports } from '../kernel/ports/ports.js'
import type { ScoringTools } from '../kernel/ports/scoring-tools.js'
import type { SecretStore } from '../kernel/ports/secret-store.js'
import type { Signer } from '../kernel/ports/signer.js'
import type { RandomKey } from '../kernel/ports/secrets.js'
import type { WebhookSender } from '../kernel/ports/webhook-sender.js'
import type { Access } from './access/access.js'
import type { Sealing } from './audit/sealing.js'
import type { UnreadableSecrets } from './secrets/unreadable.js'
import type { Throttle } from './throttle.js'
import type { Reading } from './reading/reading.js'

/** What one process composes for its use cases. Each function takes a `Pick` of the members it uses. */
export interface Services extends Ports {
  readonly access: Access
  readonly reading: Reading
  readonly throttle: Throttle
  readonly secrets: SecretStore
  readonly unreadableSecrets: UnreadableSecrets
  readonly signer: Signer
  /** Details of attempts, which are only stored for a time. */
  readonly attempts: Pick<AttemptRecords, 'of'>
  readonly webhookSender: WebhookSender
  /** Aborted on shutdown, before running tests of webhooks would delay it. */
  readonly endingTests: AbortSignal
  readonly hmacSha256: HmacSha256
  readonly randomKey: RandomKey
  /** Undefined in a process that does not seal the log. */
  readonly sealing: () => Sealing | undefined
  readonly compilePattern: CompilePattern
  readonly scoringTools: ScoringTools
  readonly log: Log
  /** Part of header names: `Vendor` gives `X-Vendor-Signature`. */
  readonly vendor: string
  /** Where users reach the service, if it is configured. */
  readonly publicUrl: string | null
  readonly maxTraceCalls: number
  /** Limit for a file of an artifact or a run, in bytes. */
  readonly maxFileBytes: number
}
