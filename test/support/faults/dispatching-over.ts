import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { jsonLog } from '../../../src/adapters/log/json-log.js'
import { openMetrics } from '../../../src/adapters/metrics/prometheus.js'
import { openInMemorySecretStore } from '../../../src/adapters/secrets/in-memory-secret-store.js'
import type { Dial } from '../../../src/adapters/outgoing/guard/connect-to-any.js'
import { webhookSender } from '../../../src/adapters/outgoing/webhook-sender/webhook-sender.js'
import { openDispatcher } from '../../../src/composition/dispatcher.js'
import { readConfig } from '../../../src/config.js'
import type { Dispatcher } from '../../../src/dispatch/webhooks/dispatcher.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import type { WebhookSender } from '../../../src/kernel/ports/webhook-sender.js'

const nothing = () => undefined

interface Between {
  readonly dial?: Dial
  readonly sender?: (sender: WebhookSender) => WebhookSender
}

/** The dispatcher as the program puts it together, over the log of a data directory; it sends to loopback addresses. */
export const dispatchOver = async (
  dataDirectory: string,
  eventStore: EventStore,
  { dial, sender = (itself) => itself }: Between = {},
): Promise<Dispatcher> => {
  const config = readConfig({ TALLYTREE_DATA_DIR: dataDirectory })
  const sending = webhookSender({ allowed: { cidrs: ['127.0.0.0/8'] }, ...(dial && { dial }) })
  const dispatcher = await openDispatcher(
    config,
    { eventStore, blobs: openInMemoryBlobStore(), secrets: openInMemorySecretStore() },
    {
      log: { ...jsonLog(process.stderr), info: nothing, warn: nothing },
      metrics: openMetrics(),
      webhookSender: sender(sending),
    },
  )
  return {
    ...dispatcher,
    stop: async (finishWithinMs) => {
      await dispatcher.stop(finishWithinMs)
      sending.close()
    },
  }
}
