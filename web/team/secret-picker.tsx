import { Button, MultiSelect, PasswordInput, Select, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { NotSaved, problemAt } from '../kit/form-errors.js'
import { onSubmit } from '../kit/on-submit.js'
import { keysOfTeam, useSecrets } from '../kit/team-data.js'
import { FormDialog, isChangedFrom } from '../kit/unsaved.js'

type SecretUses = Schemas['Secret']['used_for']

/** Chooses a secret of the team by its name, or creates one in place. */
export const SecretPicker = ({
  team,
  label,
  description,
  value,
  error,
  use = 'webhooks',
  onChange,
}: {
  readonly team: string
  readonly label: string
  readonly description: string
  readonly use?: 'webhooks' | 'upstreams'
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (name: string) => void
}) => {
  const secrets = useSecrets(team)
  const [isCreating, setCreating] = useState(false)
  const names =
    secrets.data?.data.filter(({ used_for }) => used_for.includes(use)).map(({ name }) => name) ?? []
  return (
    <div className="bar" style={{ alignItems: 'flex-end', flexWrap: 'nowrap' }}>
      <Select
        style={{ flex: 1 }}
        label={label}
        description={description}
        error={error}
        placeholder="None"
        clearable
        searchable
        data={value === '' || names.includes(value) ? names : [...names, value]}
        value={value === '' ? null : value}
        onChange={(name) => onChange(name ?? '')}
      />
      <Button variant="default" aria-label={`Create a secret: ${label}`} onClick={() => setCreating(true)}>
        Create …
      </Button>
      {isCreating && (
        <SecretDialog
          team={team}
          onClose={() => setCreating(false)}
          onStored={(name) => {
            setCreating(false)
            onChange(name)
          }}
        />
      )}
    </div>
  )
}

/** Stores a new secret, or with `name` a new version of one. */
export const SecretDialog = ({
  team,
  name: known,
  usedFor: knownUses = ['webhooks', 'upstreams'],
  onClose,
  onStored,
}: {
  readonly team: string
  readonly name?: string
  readonly usedFor?: SecretUses
  readonly onClose: () => void
  readonly onStored: (name: string) => void
}) => {
  const queries = useQueryClient()
  const [name, setName] = useState(known ?? '')
  const [value, setValue] = useState('')
  const [usedFor, setUsedFor] = useState<SecretUses>(knownUses)
  const store = useMutation({
    mutationFn: () =>
      dataOf(
        api.PUT('/api/teams/{team}/secrets/{name}', {
          params: { path: { team, name } },
          body: { value, used_for: usedFor },
        }),
      ),
    onSuccess: () => {
      setValue('')
      void queries.invalidateQueries({ queryKey: keysOfTeam.secrets(team) })
      onStored(name)
    },
  })
  return (
    <FormDialog
      title={known === undefined ? 'Create a secret' : `New value for ${known}`}
      isChanged={isChangedFrom([known ?? '', '', knownUses], [name, value, usedFor])}
      onClose={onClose}
    >
      <form
        className="form"
        onSubmit={onSubmit(() => {
          store.mutate()
        })}
      >
        {known === undefined && (
          <TextInput
            label="Name"
            description="Letters, digits and underscores, such as HOOK_TOKEN"
            required
            data-autofocus
            value={name}
            error={/^\w*$/.test(name) ? undefined : 'Use letters, digits and underscores only.'}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
        <PasswordInput
          label="Value"
          description="It is not shown again. Messages that are sent from now on use it."
          required
          autoComplete="off"
          value={value}
          error={problemAt(store.error, 'value')}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
        <MultiSelect
          label="Used for"
          description="Any member can point a scorer at any address."
          data={['webhooks', 'upstreams', 'scorers']}
          value={usedFor}
          onChange={(uses) => setUsedFor(uses)}
        />
        <NotSaved error={store.error} what="The secret" />
        <Button
          type="submit"
          loading={store.isPending}
          disabled={name === '' || value === '' || usedFor.length === 0}
        >
          Save the secret
        </Button>
      </form>
    </FormDialog>
  )
}
