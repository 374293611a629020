import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { targetOf } from '../adapters/outgoing/guard/target.js'
import {
  webhookSender,
  type ClosableWebhookSender,
} from '../adapters/outgoing/webhook-sender/webhook-sender.js'
import type { Config } from '../config.js'
import { OperatorError } from '../kernel/ports/operator-error.js'

/** `address` returns the address of this process, `http://host:port`, which webhooks must not reach. */
export const openWebhookSender = (
  { webhooks }: Pick<Config, 'webhooks'>,
  address: () => string | undefined,
): ClosableWebhookSender =>
  webhookSender({
    allowed: { cidrs: webhooks.allowCidrs, hosts: webhooks.allowHosts },
    listening: () => {
      const own = targetOf(address() ?? '')
      return own && { address: own.host, port: own.port }
    },
    certificateAuthorities: webhooks.caFile === null ? undefined : certificatesIn(webhooks.caFile),
  })

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Parses every certificate of the file, because TLS silently ignores unreadable ones. */
const certificatesIn = (file: string): string => {
  try {
    const certificates = readFileSync(file, 'utf8').match(CERTIFICATE)
    if (certificates === null) throw new Error('it contains no certificate')
    return certificates.map((pem) => new X509Certificate(pem).toString()).join('')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(`TALLYTREE_WEBHOOK_CA_FILE: must be a PEM file with certificates: ${why}`, {
      cause,
    })
  }
}
