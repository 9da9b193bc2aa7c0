-- Argo CD: the health of Workflows, Credentials and ProjectSettings (docs/gitops.md).
local function condition(kind)
  for _, each in ipairs((obj.status or {}).conditions or {}) do
    if each.type == kind then
      return each
    end
  end
end

local ready = condition("Ready")
local isCurrent = ready ~= nil
  and (ready.observedGeneration == nil or ready.observedGeneration == obj.metadata.generation)
if not isCurrent then
  return { status = "Progressing", message = "The operator has not processed it yet." }
end

local stalled = condition("Stalled")
if stalled ~= nil and stalled.status == "True" then
  return { status = "Degraded", message = stalled.message }
end
if ready.status ~= "True" then
  return { status = "Progressing", message = ready.message }
end
if obj.kind == "Workflow" and obj.spec.suspend then
  return { status = "Suspended", message = ready.message }
end
return { status = "Healthy", message = ready.message }
