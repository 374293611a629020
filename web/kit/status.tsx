export type Tone = 'ok' | 'danger' | 'running' | 'warn' | 'plain'

const SHAPES: Readonly<Record<Tone, string>> = { ok: '●', danger: '■', running: '◐', warn: '▲', plain: '◌' }

/** A state as shape, word and colour, so that no state is shown by colour alone. */
export const Status = ({ tone, children }: { readonly tone: Tone; readonly children: string }) => (
  <span className="status" data-tone={tone}>
    <span aria-hidden="true">{SHAPES[tone]}</span>
    {children}
  </span>
)

const OF_CALL: Readonly<Record<string, readonly [Tone, string]>> = {
  success: ['ok', 'succeeded'],
  error: ['danger', 'failed'],
  running: ['running', 'running'],
  descendant_error: ['warn', 'failed below'],
}

export const toneOfCall = (status: string): readonly [Tone, string] => OF_CALL[status] ?? ['plain', status]

export const CallStatus = ({ status }: { readonly status: string }) => {
  const [tone, word] = toneOfCall(status)
  return <Status tone={tone}>{word}</Status>
}
