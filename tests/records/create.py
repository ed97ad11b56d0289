from records.record import OpRecord
RECORDS: list[OpRecord] = []
STREAMS=[]
class Stream: pass
