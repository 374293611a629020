import { Button, Checkbox, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../kit/api.js'
import { AppLink } from '../kit/app-link.js'
import { onSubmit } from '../kit/on-submit.js'
import { usePlace } from '../kit/place.js'
import { ActionFailed, Failed, Loading } from '../kit/states.js'
import { FormDialog } from '../kit/unsaved.js'
import { runName, type Run } from './figures.js'
import { RunProgress } from './run-state.js'

/** Applies scorers to the answers of a run as a new run, and shows its progress. */
export const Rescore = ({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) => {
  const { team, project, projectId } = usePlace()
  const queries = useQueryClient()
  const [refs, setRefs] = useState<readonly string[]>([])
  const start = useMutation({
    mutationFn: () =>
      dataOf(
        api.POST('/evaluations/rescore', {
          body: { project_id: projectId, source_evaluation_run_id: run.id, scorer_refs: [...refs] },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: ['evaluations', 'list'] }),
  })
  const started = start.data?.evaluation_run_id
  return (
    <FormDialog
      title={`Rescore ${runName(run)}`}
      isChanged={started === undefined && refs.length > 0}
      onClose={onClose}
    >
      {started === undefined ? (
        <form className="form" onSubmit={onSubmit(() => refs.length > 0 && start.mutate())}>
          <p style={{ margin: 0 }}>The model is not asked again. The scores are a new run.</p>
          <ScorerPicker refs={refs} onChange={setRefs} />
          <ActionFailed error={start.error} what="Rescoring" />
          <Button type="submit" loading={start.isPending} disabled={refs.length === 0}>
            Start
          </Button>
        </form>
      ) : (
        <div className="form">
          <RunProgress projectId={projectId} runId={started} />
          <div className="bar">
            <Button
              component={AppLink}
              href={`/${team}/${project}/evaluations/${encodeURIComponent(started)}`}
            >
              Open the new run
            </Button>
            <Button
              variant="default"
              component={AppLink}
              href={`/${team}/${project}/evaluations/compare?runs=${encodeURIComponent(run.id)},${encodeURIComponent(started)}`}
            >
              Compare with this run
            </Button>
          </div>
        </div>
      )}
    </FormDialog>
  )
}

const MAX_OBJECTS = 200

/** The newest versions of the scorers of a project, and any other by its reference. */
export const ScorerPicker = ({
  refs,
  onChange,
}: {
  readonly refs: readonly string[]
  readonly onChange: (refs: readonly string[]) => void
}) => {
  const { projectId } = usePlace()
  const [other, setOther] = useState('')
  const scorers = useQuery({
    queryKey: ['scorers', projectId],
    queryFn: ({ signal }) =>
      dataOf(
        api.POST('/objs/query', {
          body: {
            project_id: projectId,
            filter: { base_object_classes: ['Scorer'], latest_only: true },
            metadata_only: true,
            limit: MAX_OBJECTS,
          },
          signal,
        }),
      ),
  })
  const known = (scorers.data?.objs ?? []).map(({ object_id, digest }) => ({
    name: object_id,
    ref: `weave:///${projectId}/object/${object_id}:${digest}`,
  }))
  const unknown = refs
    .filter((ref) => !known.some((one) => one.ref === ref))
    .map((ref) => ({ name: ref.replace(/^weave:\/\/\//, ''), ref }))
  const add = () => {
    const ref = other.trim()
    if (ref === '') return
    if (!refs.includes(ref)) onChange([...refs, ref])
    setOther('')
  }
  return (
    <fieldset>
      <legend>Scorers</legend>
      {scorers.isError && (
        <Failed error={scorers.error} what="The scorers" onRetry={() => void scorers.refetch()} />
      )}
      {scorers.isPending && <Loading what="scorers" />}
      {[...known, ...unknown].map(({ name, ref }) => (
        <Checkbox
          key={ref}
          size="xs"
          label={name}
          title={ref}
          checked={refs.includes(ref)}
          onChange={(event) =>
            onChange(event.currentTarget.checked ? [...refs, ref] : refs.filter((one) => one !== ref))
          }
        />
      ))}
      {scorers.isSuccess && known.length === 0 && (
        <div className="secondary">
          The project has no scorers. Publish one with the weave package, or name one of another project
          below.
        </div>
      )}
      <div className="bar">
        <TextInput
          size="xs"
          style={{ flex: 1 }}
          aria-label="Reference to another scorer"
          placeholder="weave:///team/project/object/name:version"
          value={other}
          onChange={(event) => setOther(event.currentTarget.value)}
        />
        <Button size="compact-sm" variant="default" onClick={add}>
          Add
        </Button>
      </div>
    </fieldset>
  )
}
