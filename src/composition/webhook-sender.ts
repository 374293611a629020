import { readFileSync } from 'node:fs'
import { targetOf } from '../adapters/webhook-sender/target.js'
import { webhookSender, type ClosableWebhookSender } from '../adapters/webhook-sender/webhook-sender.js'
import type { Config } from '../config.js'

/** The sender that the operator configured; `address` is where this process listens, `http://host:port`, once it does. */
export const openWebhookSender = (
  { webhooks }: Config,
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

const certificatesIn = (file: string): string => {
  const text = readFileSync(file, 'utf8')
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error('TALLYTREE_WEBHOOK_CA_FILE: must be a file of certificates, PEM')
  return text
}
