import { UpstreamFault, type FaultKind } from '../../../domain/gateway/upstreams/upstream-client.js'
import type { SendError } from '../../../kernel/ports/webhook-sender.js'

/** What undici or the system says went wrong with a request. */
export const faultFrom = (error: unknown): UpstreamFault => {
  if (error instanceof UpstreamFault) return error
  const { name, code = name } = error as NodeJS.ErrnoException
  return new UpstreamFault(kindOf(code), code, { cause: error })
}

const kindOf = (code: string): FaultKind => {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'dns'
  if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT)$/.test(code)) return 'connect'
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'timeout'
  if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code)) return 'reset'
  return /CERT|TLS|SSL|SELF_SIGNED|EPROTO/.test(code) ? 'tls' : 'protocol'
}

/** Why a guarded connection did not come about. */
export const faultOfConnecting = (error: SendError | null, cause: unknown): UpstreamFault => {
  if (error === null) return faultFrom(cause)
  switch (error.kind) {
    case 'forbidden-address':
    case 'forbidden-name':
      return new UpstreamFault('forbidden-address', 'by the operator')
    case 'timeout':
      return new UpstreamFault('timeout', 'connect')
    case 'aborted':
      return new UpstreamFault('aborted', 'by the service')
    default:
      return new UpstreamFault(error.kind, error.code, { cause })
  }
}
