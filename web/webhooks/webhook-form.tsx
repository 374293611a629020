import { Button, Checkbox, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { problemAt } from '../kit/form-errors.js'
import { SecretPicker } from '../team/secret-picker.js'
import type { WebhookDraft } from './webhook-draft.js'

/** The fields of a webhook. */
export const WebhookFields = ({
  team,
  draft,
  error,
  onChange,
}: {
  readonly team: string
  readonly draft: WebhookDraft
  readonly error: Error | null
  readonly onChange: (draft: WebhookDraft) => void
}) => {
  const set = (changes: Partial<WebhookDraft>) => onChange({ ...draft, ...changes })
  const text = (field: keyof WebhookDraft) => ({
    value: draft[field] as string,
    error: problemAt(error, field),
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      set({ [field]: event.currentTarget.value }),
  })
  const secret = (field: 'access_token' | 'secret') => ({
    team,
    value: draft[field],
    error: problemAt(error, field),
    onChange: (name: string) => set({ [field]: name }),
  })
  return (
    <>
      <TextInput label="Name" required data-autofocus {...text('name')} />
      <TextInput
        label="Endpoint URL"
        description="Messages are sent here as POST requests with a JSON body."
        placeholder="https://example.com/hooks/models"
        required
        type="url"
        inputMode="url"
        {...text('url')}
      />
      <SecretPicker
        label="Access token"
        description="A secret that is sent as Authorization: Bearer, and is ${ACCESS_TOKEN} in payloads."
        {...secret('access_token')}
      />
      <SecretPicker
        label="Secret"
        description="Signs each message with HMAC-SHA256, so that the receiver can check where it comes from."
        {...secret('secret')}
      />
      <Checkbox
        label="Enabled"
        description="Messages of a disabled webhook are held until it is enabled."
        checked={draft.enabled}
        onChange={(event) => set({ enabled: event.currentTarget.checked })}
      />
      <More isOpen={hasMore(draft)}>
        <TextInput label="Timeout in seconds" placeholder="30" inputMode="numeric" {...text('timeout_s')} />
        <TextInput
          label="Messages per minute, at most"
          description="Messages above it are sent later, in order."
          placeholder="No limit"
          inputMode="numeric"
          {...text('max_per_minute')}
        />
        <TextInput
          label="Seconds between the attempts of a message"
          description="Separated by commas. Leave it empty for the usual schedule."
          {...text('retry_waits_s')}
        />
        <Checkbox
          label="End a delivery when the answer is a 4xx status"
          description="Except 408, 425 and 429."
          checked={draft.stop_on_4xx}
          onChange={(event) => set({ stop_on_4xx: event.currentTarget.checked })}
        />
        <Headers
          headers={draft.headers}
          error={problemAt(error, 'headers')}
          onChange={(headers) => set({ headers })}
        />
      </More>
    </>
  )
}

const hasMore = ({ timeout_s, max_per_minute, retry_waits_s, stop_on_4xx, headers }: WebhookDraft): boolean =>
  timeout_s + max_per_minute + retry_waits_s !== '' || stop_on_4xx || headers.length > 0

const More = ({ isOpen, children }: { readonly isOpen: boolean; readonly children: ReactNode }) => (
  <details open={isOpen || undefined}>
    <summary>Time limits, retries and headers</summary>
    <div className="form" style={{ marginTop: 12 }}>
      {children}
    </div>
  </details>
)

type Pairs = WebhookDraft['headers']

const Headers = ({
  headers,
  error,
  onChange,
}: {
  readonly headers: Pairs
  readonly error: string | undefined
  readonly onChange: (headers: Pairs) => void
}) => {
  const replace = (at: number, pair: Pairs[number] | null) =>
    onChange(headers.flatMap((one, n) => (n === at ? (pair === null ? [] : [pair]) : [one])))
  return (
    <fieldset>
      <legend>Headers of each message; $NAME in a value is a secret of the team</legend>
      {headers.map(([name, value], at) => (
        <div key={at} className="bar" style={{ flexWrap: 'nowrap', marginBottom: 8 }}>
          <TextInput
            aria-label={`Name of header ${at + 1}`}
            placeholder="X-Api-Key"
            value={name}
            onChange={(event) => replace(at, [event.currentTarget.value, value])}
          />
          <TextInput
            style={{ flex: 1 }}
            aria-label={`Value of header ${at + 1}`}
            placeholder="$API_KEY"
            value={value}
            onChange={(event) => replace(at, [name, event.currentTarget.value])}
          />
          <Button variant="default" aria-label={`Remove header ${at + 1}`} onClick={() => replace(at, null)}>
            Remove
          </Button>
        </div>
      ))}
      {error !== undefined && (
        <div style={{ color: 'var(--danger)' }} role="alert">
          {error}
        </div>
      )}
      <Button variant="default" size="compact-sm" onClick={() => onChange([...headers, ['', '']])}>
        Add a header
      </Button>
    </fieldset>
  )
}
