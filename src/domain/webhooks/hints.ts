import type { AddressRule, SendError } from '../../kernel/ports/webhook-sender.js'

const BY_ADDRESS: Readonly<Record<AddressRule, string>> = {
  url: '`url` should be an HTTP or HTTPS URL with a host name or an address.',
  port: '`url` has a port of another kind of service. Use another port, or ask the operator to add the host with its port to TALLYTREE_WEBHOOK_ALLOW_HOSTS.',
  private_network:
    '`url` leads into a private network. Use a public address, or ask the operator to add the network to TALLYTREE_WEBHOOK_ALLOW_CIDRS or the host to TALLYTREE_WEBHOOK_ALLOW_HOSTS.',
  metadata: '`url` leads to a metadata service of a cloud, which is never allowed. Change `url`.',
  own_address: '`url` leads to this service itself. Change `url`.',
  reserved: '`url` leads to a reserved address, which is never allowed. Change `url`.',
}

const NO_TLS =
  'The receiver does not speak TLS 1.2 or later at this port. Check the port, or begin `url` with http://.'

const ofTls = (code: string): string =>
  /CERT|SIGNATURE|ISSUER|SELF_SIGNED|ALTNAME/.test(code)
    ? 'The certificate of the receiver is not valid for `url`. Renew it, use the host name that it is for, or ask the operator to add its authority to TALLYTREE_WEBHOOK_CA_FILE.'
    : NO_TLS

type TimeoutPhase = Extract<SendError, { kind: 'timeout' }>['phase']

const ofTimeout = (phase: TimeoutPhase): string => {
  if (phase === 'tls') return NO_TLS
  return phase === 'head' || phase === 'total'
    ? 'The receiver took too long to respond. Respond before the work is done, or raise `timeout_s`, at most 30.'
    : 'The receiver could not be reached in time. Check the host and the port of `url`, and the firewall of the receiver.'
}

/** Which setting to change after a message got no response. */
export const hintOfError = (error: SendError): string | null => {
  switch (error.kind) {
    case 'forbidden-address':
    case 'forbidden-name':
      return BY_ADDRESS[error.rule]
    case 'timeout':
      return ofTimeout(error.phase)
    case 'dns':
      return 'The host name of `url` cannot be resolved. Check its spelling.'
    case 'connect':
      return 'Nothing accepts connections there. Check the host and the port of `url`, and that the receiver runs.'
    case 'tls':
      return ofTls(error.code)
    case 'reset':
    case 'protocol':
      return 'The receiver closed the connection or did not respond with HTTP. Check the port of `url`, and whether it needs https://.'
    case 'aborted':
      return null
  }
}

/** Which setting to change after a response; null for a success. */
export const hintOfStatus = (status: number): string | null => {
  if (status < 300) return null
  if (status < 400) return 'Redirects are not followed. Use the final address in `url`.'
  if (status >= 500) return 'The receiver failed. See its log.'
  switch (status) {
    case 401:
    case 403:
      return 'The receiver refused the credentials. Check `access_token`, and `secret` if it verifies signatures.'
    case 404:
    case 405:
      return 'The receiver has no such path for POST. Check the path of `url`.'
    case 410:
      return 'The receiver wants no more messages: a delivery would disable the webhook. Check the path of `url`.'
    case 408:
    case 425:
    case 429:
      return 'The receiver has too much to do. Deliveries are retried.'
    default:
      return 'The receiver refused the message. Check `payload`.'
  }
}

/** Which setting to change where a message could not be made. */
export const hintOfUnsent = (error: string): string => {
  switch (error) {
    case 'missing_secret':
      return 'The team no longer has the secret that `access_token`, `secret` or `headers` name. Store it again, or name another one.'
    case 'unusable_token':
      return 'The value of the access token cannot be a header. Store it without line breaks and other control characters.'
    case 'unusable_header':
      return 'A secret in `headers` cannot be part of a header. Store it without line breaks and other control characters.'
    case 'too_large':
      return 'The message is larger than 256 KiB. Shorten `payload`.'
    default:
      return 'The message is no JSON. Check `payload`.'
  }
}

/** Which setting to change after an attempt without a response, by what the log has of its failure. */
export const hintOfFailure = (failure: string): string | null => {
  const [kind, detail = ''] = failure.split(':')
  switch (kind) {
    case 'address not allowed':
      return '`url` leads to an address that is not allowed. Test the webhook to see the rule.'
    case 'timeout':
      return hintOfError({ kind, phase: detail as TimeoutPhase })
    case 'dns':
    case 'connect':
    case 'tls':
    case 'reset':
    case 'protocol':
      return hintOfError({ kind, code: detail })
    case 'aborted':
      return null
    default:
      return hintOfUnsent(failure)
  }
}
