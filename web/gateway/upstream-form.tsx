import { Button, Checkbox, TextInput } from '@mantine/core'
import { problemAt } from '../kit/form-errors.js'
import { SecretPicker } from '../team/secret-picker.js'
import { EMPTY_MODEL, type UpstreamDraft } from './upstream-draft.js'

/** The fields of an upstream. */
export const UpstreamFields = ({
  team,
  draft,
  error,
  onChange,
}: {
  readonly team: string
  readonly draft: UpstreamDraft
  readonly error: Error | null
  readonly onChange: (draft: UpstreamDraft) => void
}) => {
  const set = (changes: Partial<UpstreamDraft>) => onChange({ ...draft, ...changes })
  const text = (field: 'name' | 'base_url' | 'weight') => ({
    value: draft[field],
    error: problemAt(error, field),
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      set({ [field]: event.currentTarget.value }),
  })
  return (
    <>
      <TextInput label="Name" required data-autofocus {...text('name')} />
      <TextInput
        label="Base URL"
        description="The address of its API, which usually ends in /v1."
        placeholder="https://models.example.com/v1"
        required
        type="url"
        inputMode="url"
        {...text('base_url')}
      />
      <SecretPicker
        team={team}
        label="Secret"
        description="Its value is sent as Authorization: Bearer."
        use="upstreams"
        value={draft.secret}
        error={problemAt(error, 'secret')}
        onChange={(secret) => set({ secret })}
      />
      <TextInput
        label="Weight"
        description="Its share of the requests among the upstreams of a model; 0 is only a fallback."
        inputMode="numeric"
        {...text('weight')}
      />
      <Checkbox
        label="Enabled"
        checked={draft.enabled}
        onChange={(event) => set({ enabled: event.currentTarget.checked })}
      />
      <ModelFields draft={draft} error={error} set={set} />
    </>
  )
}

const FIELDS = [
  ['id', 'Model', 'Its name for clients'],
  ['upstream_id', 'Name at the upstream', 'As the model'],
  ['input', 'Input price', 'No price'],
  ['output', 'Output price', 'No price'],
] as const

const ModelFields = ({
  draft: { models },
  error,
  set,
}: {
  readonly draft: UpstreamDraft
  readonly error: Error | null
  readonly set: (changes: Partial<UpstreamDraft>) => void
}) => (
  <fieldset className="upstream-models">
    <legend>Models, with prices in dollars for a million tokens</legend>
    {models.map((model, n) => (
      <div key={n} className="upstream-model">
        {FIELDS.map(([field, label, placeholder]) => (
          <TextInput
            key={field}
            size="xs"
            label={label}
            placeholder={placeholder}
            value={model[field]}
            error={
              field === 'input' || field === 'output'
                ? problemAt(error, 'models', String(n), 'price', PRICES[field])
                : problemAt(error, 'models', String(n), field)
            }
            onChange={(event) => {
              const { value } = event.currentTarget
              set({ models: models.map((one, at) => (at === n ? { ...one, [field]: value } : one)) })
            }}
          />
        ))}
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Remove the model ${model.id}`}
          disabled={models.length === 1}
          onClick={() => set({ models: models.filter((_, at) => at !== n) })}
        >
          Remove
        </Button>
      </div>
    ))}
    <div>
      <Button size="compact-sm" variant="default" onClick={() => set({ models: [...models, EMPTY_MODEL] })}>
        Add a model
      </Button>
    </div>
  </fieldset>
)

const PRICES = { input: 'prompt_token_cost', output: 'completion_token_cost' } as const
