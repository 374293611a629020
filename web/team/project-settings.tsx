import { Button, Radio, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { DeleteProject } from '../erasures/delete-project.js'
import { Erasures } from '../erasures/receipt.js'
import { RetentionFields } from '../erasures/retention.js'
import { api, dataOf, type Schemas } from '../kit/api.js'
import { NotSaved, problemAt } from '../kit/form-errors.js'
import { onSubmit } from '../kit/on-submit.js'
import { useRights } from '../kit/session.js'
import { FormDialog, isChangedFrom } from '../kit/unsaved.js'
import { Failed, Loading } from '../kit/states.js'

type Settings = Schemas['ProjectSettingsResponse']

const REPORTING: readonly (readonly [
  value: Settings['usage_reporting'],
  label: string,
  description: string,
])[] = [
  ['auto', 'Found out', 'Sums that an SDK added to parents are recognised and counted once.'],
  ['own', 'Own usage', 'Each call reports what it used itself.'],
  ['rolled_up', 'With descendants', 'Each call reports what it and its descendants used.'],
]

const RECORDING: readonly (readonly [value: Settings['record'], label: string, description: string])[] = [
  ['all', 'Everything', 'Messages and answers of completions through the gateway are recorded.'],
  ['metadata', 'Metadata', 'Only who asked which model when, and what it used.'],
]

/** How a project's calls report usage and name their end users, what is recorded of its completions, and how long content is kept. */
export const ProjectSettingsDialog = ({
  team,
  project,
  onClose,
}: {
  readonly team: string
  readonly project: string
  readonly onClose: () => void
}) => {
  const path = { entity: team, project }
  const settings = useQuery({
    queryKey: ['project settings', team, project],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/projects/{entity}/{project}', { params: { path }, signal })),
  })
  const { isTeamAdministrator } = useRights(team)
  const [draft, setDraft] = useState<Settings>()
  const isChanged = draft !== undefined && isChangedFrom(settings.data, draft)
  return (
    <FormDialog title={`Settings of ${project}`} isChanged={isChanged} onClose={onClose}>
      {settings.isError && <Failed error={settings.error} what="The settings" />}
      {settings.isPending && <Loading what="settings" />}
      {settings.isSuccess && (
        <>
          <SettingsForm
            path={path}
            saved={settings.data}
            draft={draft ?? settings.data}
            onDraft={setDraft}
            onSaved={onClose}
          />
          <Erasures path={path} />
          {isTeamAdministrator && <DeleteProject path={path} onDeleted={onClose} />}
        </>
      )}
    </FormDialog>
  )
}

const SettingsForm = ({
  path,
  saved,
  draft,
  onDraft,
  onSaved,
}: {
  readonly path: { readonly entity: string; readonly project: string }
  readonly saved: Settings
  readonly draft: Settings
  readonly onDraft: (draft: Settings) => void
  readonly onSaved: () => void
}) => {
  const queries = useQueryClient()
  const { isTeamAdministrator } = useRights(path.entity)
  const { retention, ...others } = draft
  const save = useMutation({
    mutationFn: () =>
      dataOf(
        api.PUT('/api/projects/{entity}/{project}', {
          params: { path },
          // Who may not change the retention may change the rest.
          body: isChangedFrom(saved.retention, retention) ? draft : others,
        }),
      ),
    onSuccess: (written) => {
      queries.setQueryData(['project settings', path.entity, path.project], written)
      onSaved()
    },
  })
  return (
    <form
      className="form"
      onSubmit={onSubmit(() => {
        save.mutate()
      })}
    >
      <Radio.Group
        label="Usage that calls report"
        value={draft.usage_reporting}
        onChange={(value) => onDraft({ ...draft, usage_reporting: value })}
      >
        {REPORTING.map(([value, label, description]) => (
          <Radio key={value} value={value} label={label} description={description} mt={8} />
        ))}
      </Radio.Group>
      <Radio.Group
        label="Recorded of completions"
        value={draft.record}
        onChange={(value) => onDraft({ ...draft, record: value })}
      >
        {RECORDING.map(([value, label, description]) => (
          <Radio key={value} value={value} label={label} description={description} mt={8} />
        ))}
      </Radio.Group>
      <TextInput
        label="Attribute with the end user"
        description="Such as customer.id. It is read before the usual ones: user.id, user, user_id and enduser.id."
        value={draft.end_user_attribute}
        error={problemAt(save.error, 'end_user_attribute')}
        onChange={(event) => onDraft({ ...draft, end_user_attribute: event.currentTarget.value })}
      />
      <RetentionFields
        path={path}
        retention={retention}
        isAllowed={isTeamAdministrator}
        error={save.error}
        onChange={(chosen) => onDraft({ ...draft, retention: chosen })}
      />
      <p className="secondary" style={{ margin: 0 }}>
        Changes apply from now on. Answers as of an earlier time do not change, but show no content that is
        erased.
      </p>
      <NotSaved error={save.error} what="The project" />
      <Button type="submit" loading={save.isPending}>
        Save
      </Button>
    </form>
  )
}
